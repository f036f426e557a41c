import * as Encoding from "effect/Encoding"
import * as Either from "effect/Either"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** A value, or why there is none. */
export type Decoded = { readonly value: string } | { readonly problem: string }

/**
 * The text that base64 stands for.
 *
 * @param keep whether bytes that are no text are kept as base64.
 */
export const textOfBase64 = (base64: string, keep: boolean): Decoded => {
  const spelled = base64.replace(/\s/g, "")
  const bytes = Encoding.decodeBase64(spelled)
  if (Either.isLeft(bytes)) return { problem: "is not valid base64" }
  return Either.getOrElse(
    Either.try(() => ({ value: utf8.decode(bytes.right) })),
    () => (keep ? { value: spelled } : { problem: "is binary, not text: --base64 keeps it as base64 text" })
  )
}
