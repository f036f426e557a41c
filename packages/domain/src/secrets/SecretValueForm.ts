import type * as Brand from "effect/Brand"

export type PlainSecretValue = string & Brand.Brand<"SecretValue">

/** The largest secret value, in bytes of UTF-8. */
export const maxSecretValueBytes = 65_536

export const secretValueMessage =
  "a secret value is a string of at most 64 KB (65,536 bytes of UTF-8), without lone surrogates"

const encoder = new TextEncoder()

/** Returns the length of a string in bytes of UTF-8. A browser has no `Buffer`. */
export const byteLength = (text: string): number => encoder.encode(text).length

/** Whether a text can be a secret value. Without schemas: `SecretValues.ts` builds one from this. */
export const isSecretValue = (text: string): text is PlainSecretValue =>
  text.isWellFormed() && (text.length * 3 <= maxSecretValueBytes || byteLength(text) <= maxSecretValueBytes)
