import * as Encoding from "effect/Encoding"
import { byteLength } from "./SecretValueForm.js"

const encoder = new TextEncoder()

/** A text to replace. At its sides may be a character of base64 that holds some bits of the value. */
export interface Spelling {
  readonly text: string
  readonly isBase64: boolean
}

/** Bytes as a string with a character for each byte. */
export const bytesAsText = (text: string): string =>
  Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("")

const urlSafe = (base64: string): string => base64.replace(/\+/g, "-").replace(/\//g, "_")

/** The characters of base64 that hold nothing but bits of the value, when it begins at each offset of a group. */
const base64Cores = (bytes: Uint8Array): ReadonlyArray<string> =>
  [0, 1, 2].map((offset) => {
    const shifted = new Uint8Array(offset + bytes.length)
    shifted.set(bytes, offset)
    const text = Encoding.encodeBase64(shifted)
    const first = Math.ceil((offset * 8) / 6)
    const end = Math.floor(((offset + bytes.length) * 8) / 6)
    return text.slice(first, end)
  })

const percentAll = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("")

const lowerEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())

const jsonForms = (value: string): ReadonlyArray<string> => {
  const plain = JSON.stringify(value).slice(1, -1)
  const ascii = plain.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  return [plain, ascii].flatMap((form) => [form, form.replace(/\//g, "\\/")])
}

/** The spellings of a value that are replaced in responses and in masked output, longest first. */
export const spellingsOf = (value: string): ReadonlyArray<Spelling> => {
  const bytes = encoder.encode(value)
  const hex = Encoding.encodeHex(bytes)
  const percent = [encodeURIComponent(value), percentAll(bytes)].flatMap((form) => [
    form,
    lowerEscapes(form),
    form.replace(/%20/g, "+")
  ])
  const cores = base64Cores(bytes)
  const texts = [value, ...jsonForms(value)].map(bytesAsText)
  const plain = [...texts, hex, hex.toUpperCase(), ...percent].map((text) => ({ text, isBase64: false }))
  const base64 = [...cores, ...cores.map(urlSafe)].map((text) => ({ text, isBase64: true }))
  const distinct = new Map([...base64, ...plain].map((spelling) => [spelling.text, spelling]))
  return [...distinct.values()].sort((one, other) => other.text.length - one.text.length)
}

/** How many characters any spelling of a value takes, encoded up to twice. What is cut from a body that was cut may hold so much. */
export const longestSpelling = (value: string): number => 36 * byteLength(value) + 256
