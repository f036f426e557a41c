import { randomInt } from "node:crypto"
import { Effect, Redacted } from "effect"
import { SecretValue } from "../SecretValues.js"

const digits = "0123456789"
const letters = "abcdefghijklmnopqrstuvwxyz"
const alphanumeric = `${digits}${letters}${letters.toUpperCase()}`

/** The characters of generated values, by name. */
export const charsets = {
  alphanumeric,
  hex: `${digits}abcdef`,
  digits,
  /** Printable ASCII without quotes, backslash, backtick, dollar sign and space, which shells and file formats treat specially. */
  symbols: `${alphanumeric}!#%&()*+,-./:;<=>?@[]^_{|}~`
} as const
export type Charset = keyof typeof charsets

/** Makes a random value: each character with the same probability. */
export const generateValue = (length: number, charset: Charset): Effect.Effect<Redacted.Redacted<SecretValue>> =>
  Effect.sync(() => {
    const characters = charsets[charset]
    const text = Array.from({ length }, () => characters.charAt(randomInt(characters.length))).join("")
    return Redacted.make(SecretValue.make(text))
  })
