import { parse } from "dotenv"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
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

/** Whether both of dotenv's parsers read this line as this value. */
const readsBack = (line: string, key: string, value: string) =>
  [parse(line), parse(line, { fast: true })].every((found) => Object.hasOwn(found, key) && found[key] === value)

const spell = (value: string, key: string): string | undefined =>
  spellings
    .map((spelling) => spelling(value))
    .find((text) => text !== undefined && readsBack(`${key}=${text}\n`, key, value))

/** A value as it is spelled behind `KEY=`; on the left, why none can be, as the end of a sentence "KEY …". */
export const spellEnvValue = (value: string, key = "KEY"): Either.Either<string, string> => {
  const problem = unreadable(value)
  if (problem !== undefined) return Either.left(problem)
  return Either.fromNullable(
    spell(value, key),
    () => "has a value with quotes, backslashes, $ or # that not every reader of .env files reads alike"
  )
}

/** Why a `.env` file cannot hold a pair. */
export const envRefusal = ({ key, value }: Pair): string | undefined => {
  if (key === "__proto__") return "is a key that dotenv does not read"
  if (key.includes("-")) return "is a key with a hyphen, which godotenv does not read"
  return Either.match(spellEnvValue(value, key), { onLeft: identity, onRight: () => undefined })
}

/** The lines of a `.env` file, without pairs that it cannot hold. */
export const writeEnv = (pairs: ReadonlyArray<Pair>): string =>
  pairs
    .filter((pair) => envRefusal(pair) === undefined)
    .map(({ key, value }) => `${key}=${spell(value, key) ?? ""}\n`)
    .join("")
