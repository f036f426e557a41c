import { SecretKey } from "@coffer/domain/Names"
import type { BundledSecret } from "@coffer/domain/Secret"
import { RedactedSecretValue } from "@coffer/domain/SecretValues"
import { Array, Effect, Either, Redacted, Schema } from "effect"
import { CannotDo } from "../Failures.js"
import { withDefaultSignals } from "../terminal/DefaultSignals.js"
import { BadFile, type Format, type FormatName, formatNames, type Mistake, type Pair } from "./Format.js"

/** Loads a format when it is needed: the parsers are large. */
const load = (name: FormatName): Effect.Effect<Format> =>
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

const alternatives = Effect.fnUntraced(function* (pairs: ReadonlyArray<Pair>) {
  const able = yield* Effect.filter(formatNames, (name) =>
    Effect.map(load(name), (format) => pairs.every((pair) => format.refusal(pair) === undefined))
  )
  return `${able.join(", ").replace(/, (\w+)$/, " or $1")} can hold ${pairs.length === 1 ? "it" : "them"}`
})

interface WriteOptions {
  /** Write the comments that a file of this format begins with. */
  readonly withHead: boolean
  /** Leave out what the format cannot hold. */
  readonly skip: boolean
}

export interface SecretsWritten {
  readonly text: Redacted.Redacted
  /** Which secrets were left out, and why. */
  readonly left: ReadonlyArray<string>
}

/** Returns the text of a file with these secrets. Fails, with their names, when the format cannot hold some of them. */
export const writeSecrets = Effect.fnUntraced(function* (
  name: FormatName,
  secrets: ReadonlyArray<Pick<BundledSecret, "key" | "value">>,
  { skip, withHead }: WriteOptions
) {
  const format = yield* load(name)
  const pairs = secrets.map(({ key, value }): Pair => ({ key, value: Redacted.value(value) }))
  const refused = pairs.flatMap((pair) => {
    const why = format.refusal(pair)
    return why === undefined ? [] : [{ pair, why: `${pair.key} ${why}` }]
  })
  const left = refused.map(({ why }) => why)
  if (refused.length > 0 && !skip) {
    const others = yield* alternatives(refused.map(({ pair }) => pair))
    return yield* new CannotDo({
      message: `the format ${name} cannot hold everything: ${left.join(", ")}; ${others}: choose with --format`
    })
  }
  const bad = new Set(refused.map(({ pair }) => pair))
  const body = format.write(pairs.filter((pair) => !bad.has(pair)))
  const written: SecretsWritten = { text: Redacted.make((withHead ? (format.head ?? "") : "") + body), left }
  return written
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
  const format = yield* load(name)
  const reading = yield* Effect.either(withDefaultSignals(Effect.suspend(() => format.read(Redacted.value(text)))))
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
    if (Either.isLeft(name)) mistakes.push({ line, problem: `${JSON.stringify(key)}: ${name.left.message}` })
    else if (Either.isLeft(redacted)) mistakes.push({ line, problem: `${key}: ${redacted.left.message}` })
    else secrets.set(name.right, redacted.right)
    for (const part of kept) warnings.push(`${file}, line ${line}: ${key} contains ${part}, which is kept as it is`)
  }
  mistakes.sort((a, b) => a.line - b.line)
  if (Array.isNonEmptyReadonlyArray(mistakes)) return yield* new BadFile({ file, mistakes })
  return { secrets, warnings }
})
