import { Array, Effect, Either, Redacted, Schema } from "effect"
import { sentenceOf } from "../BrokenRules.js"
import { SecretKey } from "../Names.js"
import { RedactedSecretValue } from "../SecretValues.js"
import { BadFile, type Format, type FormatName, type Mistake } from "./Format.js"

/** Loads a format when it is needed: the parsers are large. */
export const loadFormat = (name: FormatName): Effect.Effect<Format> =>
  Effect.promise(async () => {
    switch (name) {
      case "env":
        return (await import("./Env.js")).env
      case "shell":
        return (await import("./Shell.js")).shell
      case "docker":
        return (await import("./Docker.js")).docker
      case "json":
        return (await import("./Json.js")).json
      case "yaml":
        return (await import("./Yaml.js")).yaml
    }
  })

const decodeKey = Schema.decodeUnknownEither(SecretKey)
const decodeValue = Schema.decodeUnknownEither(RedactedSecretValue)

export type SecretMap = ReadonlyMap<SecretKey, typeof RedactedSecretValue.Type>

export interface SecretsRead {
  readonly secrets: SecretMap
  /** What a person may not expect, for each value. */
  readonly warnings: ReadonlyArray<string>
}

/** Reads the secrets of a file. Fails with all bad lines, keys and values, and all keys that stand twice. */
export const readSecrets = Effect.fnUntraced(function* (
  name: FormatName,
  file: string,
  text: Redacted.Redacted
): Effect.fn.Return<SecretsRead, BadFile> {
  const format = yield* loadFormat(name)
  const reading = yield* Effect.sync(() => format.read(Redacted.value(text)))
  const { entries, mistakes: unreadable } = Either.match(reading, {
    onLeft: ({ entries, mistakes }) => ({ entries: Redacted.value(entries), mistakes }),
    onRight: (entries) => ({ entries, mistakes: [] })
  })
  const lines = new Map<string, number>()
  const secrets = new Map<SecretKey, typeof RedactedSecretValue.Type>()
  const mistakes: Array<Mistake> = [...unreadable]
  const warnings: Array<string> = []
  for (const { kept = [], key, line, value } of entries) {
    const first = lines.get(key)
    if (first !== undefined) mistakes.push({ line, problem: `${key} is here again, after line ${first}; remove one` })
    else lines.set(key, line)
    const name = decodeKey(key)
    const redacted = decodeValue(value)
    if (Either.isLeft(name))
      mistakes.push({ line, problem: `${JSON.stringify(key)}: ${sentenceOf(name.left, "is not a key")}` })
    else if (Either.isLeft(redacted))
      mistakes.push({ line, problem: `${key}: ${sentenceOf(redacted.left, "is not a value")}` })
    else secrets.set(name.right, redacted.right)
    for (const part of kept) warnings.push(`${file}, line ${line}: ${key} contains ${part}, which is kept as it is`)
  }
  mistakes.sort((a, b) => a.line - b.line)
  if (Array.isNonEmptyReadonlyArray(mistakes)) return yield* new BadFile({ file, mistakes })
  return { secrets, warnings }
})
