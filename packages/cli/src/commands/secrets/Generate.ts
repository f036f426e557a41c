import { maxSecretValueBytes, SecretValue } from "@coffer/domain/SecretValues"
import { Either, Redacted } from "effect"
import type { Codec } from "../../grammar/Fields.js"
import { nearest } from "../../grammar/Words.js"

const digits = "0123456789"
const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()
const alnum = upper + lower + digits

/** The characters of a generated value, by the name of their set. */
export const charsets = {
  alnum,
  alpha: upper + lower,
  digits,
  hex: `${digits}abcdef`,
  base64url: `${alnum}-_`,
  // Without quotes, backslash and dollar: these mean something in files and shells.
  symbols: `${alnum}!#%&()*+,-./:;<=>?@[]^_{|}~`
} as const

type Charset = keyof typeof charsets

/** What to generate. */
export interface Recipe {
  readonly length: number
  readonly charset: Charset
}

const names = Object.keys(charsets)
const isCharset = (name: string): name is Charset => Object.hasOwn(charsets, name)

/** `LENGTH[,CHARSET]`, or nothing for 32 letters and digits. */
export const recipe: Codec<Recipe> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const [length = "", charset = "alnum", ...rest] = text === "" ? ["32"] : text.split(",")
    if (rest.length > 0 || !/^[1-9][0-9]{0,4}$/.test(length) || Number(length) > maxSecretValueBytes) {
      const takes = `takes a length from 1 to ${maxSecretValueBytes}, and a character set, such as 32,hex`
      return Either.left(`${name} ${takes}; the sets are ${names.join(", ")}`)
    }
    if (isCharset(charset)) return Either.right({ length: Number(length), charset })
    const meant = nearest(names, charset.toLowerCase())
    const question = meant === undefined ? "" : `; did you mean ${meant}?`
    return Either.left(`${name} takes one of these character sets: ${names.join(", ")}${question}`)
  }
}

/** A random text: each character with the same probability, from the system's random source. */
export const generate = ({ charset, length }: Recipe): Redacted.Redacted<SecretValue> => {
  const characters = charsets[charset]
  // Loaded here: other commands start faster without it.
  const { randomInt } = process.getBuiltinModule("node:crypto")
  const text = Array.from({ length }, () => characters.charAt(randomInt(characters.length))).join("")
  return Redacted.make(SecretValue.make(text))
}

/** What was generated, without its text. */
export const describeRecipe = ({ charset, length }: Recipe): string =>
  `${length} random ${length === 1 ? "character" : "characters"} (${charset}, ${Math.floor(length * Math.log2(charsets[charset].length))} bits)`
