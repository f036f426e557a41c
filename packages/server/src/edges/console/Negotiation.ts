import type { Variant } from "./Files.js"

/** Whether an `Accept-Encoding` header takes a coding (RFC 9110, section 12.5.3). */
const accepts = (header: string, coding: string): boolean => {
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith("q="))
      return [name, weight === undefined ? 1 : Number(weight.slice(2))] as const
    })
  )
  return (weights.get(coding) ?? weights.get("*") ?? 0) > 0
}

/** The best variant that a request takes. */
export const variantFor = (variants: ReadonlyArray<Variant>, acceptEncoding: string | undefined): Variant | undefined =>
  variants.find(({ coding }) => coding === null || (acceptEncoding !== undefined && accepts(acceptEncoding, coding)))

/** Whether a request is a browser's for a page: scripts and other programs do not ask for `text/html`. */
export const wantsPage = (accept: string | undefined): boolean =>
  accept?.split(",").some((type) => type.trim().toLowerCase().startsWith("text/html")) === true
