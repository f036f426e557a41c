import * as Either from "effect/Either"
import { type DatabaseTarget, parseDatabaseUrl, targetName } from "./DatabaseUrl.js"
import type { Environment } from "./Variables.js"

/** A database that an argument of a command names. */
export type DatabasePlace =
  { readonly _tag: "File"; readonly path: string } | { readonly _tag: "Postgres"; readonly target: DatabaseTarget }

const reference = /^env:([A-Za-z_][A-Za-z0-9_]*)$/
const url = /^postgres(ql)?:/i

/**
 * Parses a file's path, the URL of a PostgreSQL database, or `env:NAME` for a variable that holds one of them. Fails with the end
 * of a sentence, which never repeats a URL.
 */
export const parsePlace = (text: string, environment: Environment): Either.Either<DatabasePlace, string> => {
  const variable = reference.exec(text)?.[1]
  const value = variable === undefined ? text : (environment[variable] ?? "")
  if (value === "") {
    return Either.left(
      variable === undefined ? "names no database" : `names the variable ${variable}, which is not set`
    )
  }
  return url.test(value)
    ? Either.map(parseDatabaseUrl(value), (target) => ({ _tag: "Postgres", target }) as const)
    : Either.right({ _tag: "File", path: value })
}

/** The database for messages, without its password. */
export const placeName = (place: DatabasePlace): string =>
  place._tag === "File" ? place.path : targetName(place.target)
