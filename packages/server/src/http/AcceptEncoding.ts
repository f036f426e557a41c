/** Returns the weights of codings by an `Accept-Encoding` header (RFC 9110, section 12.5.3); undefined if it names none. */
const weightsOf = (header: string) => {
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith("q="))
      return [name, weight === undefined ? 1 : Number(weight.slice(2))] as const
    })
  )
  return (coding: string): number | undefined => weights.get(coding) ?? weights.get("*")
}

/**
 * Returns the coding that a client prefers, the first of equals; null: the content without a coding. Without the header, clients
 * get what all of them read.
 */
export const preferredCoding = <Coding extends string>(
  header: string | undefined,
  codings: ReadonlyArray<Coding>
): Coding | null => {
  if (header === undefined) return null
  const weightOf = weightsOf(header)
  const best = codings
    .map((coding) => ({ coding, weight: weightOf(coding) ?? 0 }))
    .filter(({ weight }) => weight > 0)
    .reduce<{ readonly coding: Coding; readonly weight: number } | null>(
      (first, next) => (first === null || next.weight > first.weight ? next : first),
      null
    )
  return best !== null && best.weight >= (weightOf("identity") ?? 0) ? best.coding : null
}

/** Whether a client refuses content without a coding. */
export const refusesPlain = (header: string | undefined): boolean =>
  header !== undefined && weightsOf(header)("identity") === 0
