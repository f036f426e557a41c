import { formatOf, type Mistake } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import type { EnvName } from "@coffer/domain/base/Names"
import { readSecrets, type SecretMap } from "@coffer/domain/formats/Reading"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** The result of parsing a text. */
export interface Pasted {
  readonly secrets: SecretMap
  readonly mistakes: ReadonlyArray<Mistake>
  readonly warnings: ReadonlyArray<string>
}

/** The format of a text: by the name of its file, or else by how it begins. */
export const guessFormat = (text: string, file: string): FormatName => {
  const byName = formatOf(file)
  if (byName !== undefined) return byName
  if (/^\s*\{/.test(text)) return "json"
  return /^(?!\s*(?:#|export\s)).*?[\w.-]+[^\S\n]*=/m.test(text) ? "env" : /^[\w."'-]+:\s/m.test(text) ? "yaml" : "env"
}

/** The environment whose name a file's name contains as a word, such as `.env.prod`; undefined unless it is one alone. */
export const envOfFile = (file: string, envs: ReadonlyArray<EnvName>): EnvName | undefined => {
  const name = file.toLowerCase()
  const found = envs.filter((env) => new RegExp(`(?<![a-z0-9])${env}(?![a-z0-9])`).test(name))
  // `pre-prod` contains the word `prod` too.
  const longest = found.filter((env) => !found.some((other) => other !== env && other.includes(env)))
  return longest.length === 1 ? longest[0] : undefined
}

/** Reads a text as the command line does. */
export const readPasted = (format: FormatName, file: string, text: string): Effect.Effect<Pasted> =>
  readSecrets(format, file, Redacted.make(text)).pipe(
    Effect.map(({ secrets, warnings }): Pasted => ({ secrets, warnings, mistakes: [] })),
    Effect.catchTag("BadFile", ({ mistakes }) => Effect.succeed<Pasted>({ secrets: new Map(), warnings: [], mistakes }))
  )
