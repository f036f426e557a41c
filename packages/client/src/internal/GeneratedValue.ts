import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { isSecretValue, type PlainSecretValue } from "@coffer/domain/secrets/SecretValueForm"

const digits = "0123456789"
const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()
const alnum = upper + lower + digits

/** The characters of generated values, by name. */
export const charsets = {
  alnum,
  alpha: upper + lower,
  digits,
  hex: `${digits}abcdef`,
  base64url: `${alnum}-_`,
  /** Printable ASCII without quotes, backslash, backtick, dollar sign and space, which shells and file formats treat specially. */
  symbols: `${alnum}!#%&()*+,-./:;<=>?@[]^_{|}~`
} as const
export type Charset = keyof typeof charsets

/** Makes a random value: each character with the same probability, from the system's random source. */
export const generateValue = (length: number, charset: Charset): Effect.Effect<Redacted.Redacted<PlainSecretValue>> =>
  Effect.suspend(() => {
    const characters = charsets[charset]
    // Not imported: programs start faster without it.
    const { randomInt } = process.getBuiltinModule("node:crypto")
    const text = Array.from({ length }, () => characters.charAt(randomInt(characters.length))).join("")
    return isSecretValue(text) ? Effect.succeed(Redacted.make(text)) : Effect.dieMessage("the value is too long")
  })
