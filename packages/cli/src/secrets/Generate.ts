import { type Charset, charsets } from "@coffer/client/internal/GeneratedValue"
import { maxSecretValueBytes } from "@coffer/domain/secrets/SecretValueForm"
import * as Either from "effect/Either"
import type { Codec } from "../grammar/Specs.js"
import { nearest } from "../grammar/Words.js"

/** The length and the character set of a value to generate. */
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

/** Describes a generated value without its text. */
export const describeRecipe = ({ charset, length }: Recipe): string =>
  `${length} random ${length === 1 ? "character" : "characters"} (${charset}, ${Math.floor(length * Math.log2(charsets[charset].length))} bits)`
