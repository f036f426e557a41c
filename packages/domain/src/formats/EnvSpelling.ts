import { parse } from "dotenv"
import type { Pair } from "./Format.js"

/**
 * Why a value can be in no `.env` file that dotenv, python-dotenv, godotenv, compose-go and Node's `--env-file` all read
 * exactly.
 */
const unreadable = (value: string): string | undefined => {
  if (value.includes("\0")) return "has a value with a NUL byte, which no environment variable can hold"
  if (value.includes("\r")) return "has a value with a carriage return, which Node's --env-file drops"
  // It does so even in single quotes.
  if (/\$\{[^}:]*(?::-[^}]*)?\}/.test(value)) return "has a value with ${…}, which python-dotenv replaces"
  return undefined
}

/** The ways to write a value. Each is read alike by all of the readers, so that none has an escape or a variable in it. */
const spellings: ReadonlyArray<(value: string) => string | undefined> = [
  (value) => (/^[\w./:@%+,-]+$/.test(value) ? value : undefined),
  // python-dotenv knows two escapes here; a backslash at the end would be one for dotenv and godotenv.
  (value) => (/'|\\\\|\\$/.test(value) ? undefined : `'${value}'`),
  (value) => (/["\\$]/.test(value) ? undefined : `"${value}"`),
  // Without quotes nothing but # and $ has a meaning, and readers differ in what white space they cut off at the ends.
  (value) =>
    /^[!-~]$|^[!-~][^\x00-\x1f\x7f-\x9f\u2028\u2029]*[!-~]$/.test(value) && !/^['"`]|[#$]/.test(value)
      ? value
      : undefined
]

/** Whether both of dotenv's parsers read this line as this pair. */
const readsBack = (line: string, { key, value }: Pair) =>
  [parse(line), parse(line, { fast: true })].every((found) => Object.hasOwn(found, key) && found[key] === value)

const spell = (pair: Pair): string | undefined => {
  for (const spelling of spellings) {
    const text = spelling(pair.value)
    if (text !== undefined && readsBack(`${pair.key}=${text}\n`, pair)) return `${pair.key}=${text}\n`
  }
  return undefined
}

/** Why a `.env` file cannot hold a pair. */
export const envRefusal = (pair: Pair): string | undefined => {
  if (pair.key === "__proto__") return "is a key that dotenv does not read"
  if (pair.key.includes("-")) return "is a key with a hyphen, which godotenv does not read"
  return (
    unreadable(pair.value) ??
    (spell(pair) === undefined
      ? "has a value with quotes, backslashes, $ or # that not every reader of .env files reads alike"
      : undefined)
  )
}

/** The lines of a `.env` file, without pairs that it cannot hold. */
export const writeEnv = (pairs: ReadonlyArray<Pair>): string =>
  pairs.map((pair) => (envRefusal(pair) === undefined ? (spell(pair) ?? "") : "")).join("")
