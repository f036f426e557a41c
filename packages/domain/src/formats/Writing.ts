import { isNotForChildren } from "../secrets/DangerousVariables.js"
import type { Format, Pair } from "./Format.js"
import type { FormatName } from "./FormatNames.js"

/** A pair that a file does not get, and why, as a sentence. */
export interface RefusedPair {
  readonly pair: Pair
  readonly why: string
}

/**
 * Returns the pairs that a format cannot hold. A shell also gets no key that makes other programs run code, unless it is
 * allowed.
 *
 * @param isAllowed whether a shell gets such a key.
 */
export const refusedPairs = (
  name: FormatName,
  format: Format,
  pairs: ReadonlyArray<Pair>,
  isAllowed: (key: string) => boolean
): ReadonlyArray<RefusedPair> =>
  pairs.flatMap((pair) => {
    const isWithheld = name === "shell" && isNotForChildren(pair.key) && !isAllowed(pair.key)
    const why = isWithheld ? "can make other programs run code, or is a credential of coffer" : format.refusal(pair)
    return why === undefined ? [] : [{ pair, why: `${pair.key} ${why}` }]
  })

/** The text of a file without the pairs that were refused. */
export const textOfPairs = (
  format: Format,
  pairs: ReadonlyArray<Pair>,
  refused: ReadonlyArray<RefusedPair>
): string => {
  const bad = new Set(refused.map(({ pair }) => pair))
  return format.write(pairs.filter((pair) => !bad.has(pair)))
}
