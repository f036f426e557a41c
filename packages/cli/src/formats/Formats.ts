import { SecretKey } from "@coffer/domain/Names"
import type { BundledSecret } from "@coffer/domain/Secret"
import { RedactedSecretValue } from "@coffer/domain/SecretValues"
import { Effect, Either, Redacted, Schema } from "effect"
import { CannotDo } from "../Failures.js"
import { withDefaultSignals } from "../terminal/DefaultSignals.js"
import { type Format, type FormatName, formatNames, type Pair } from "./Format.js"

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

/** Returns the text of a file with these secrets. Fails, with their names, when the format cannot hold some of them. */
export const writeSecrets = Effect.fnUntraced(function* (name: FormatName, secrets: ReadonlyArray<BundledSecret>) {
  const format = yield* load(name)
  const pairs = secrets.map(({ key, value }): Pair => ({ key, value: Redacted.value(value) }))
  const refused = pairs.flatMap((pair) => {
    const why = format.refusal(pair)
    return why === undefined ? [] : [{ pair, why: `${pair.key} ${why}` }]
  })
  if (refused.length > 0) {
    const others = yield* alternatives(refused.map(({ pair }) => pair))
    return yield* new CannotDo({
      message: `the format ${name} cannot hold everything: ${refused.map(({ why }) => why).join(", ")}; ${others}: choose with --format`
    })
  }
  return Redacted.make((format.head ?? "") + format.write(pairs))
})

const decodeKey = Schema.decodeUnknownEither(SecretKey)
const decodeValue = Schema.decodeUnknownEither(RedactedSecretValue)

export type SecretMap = ReadonlyMap<SecretKey, typeof RedactedSecretValue.Type>

/** Reads the secrets of a file. Fails, with the line, on a bad key or value, or a key that stands twice. */
export const readSecrets = Effect.fnUntraced(function* (name: FormatName, file: string, text: Redacted.Redacted) {
  const refuse = (line: number, problem: string) => new CannotDo({ message: `${file}, line ${line}: ${problem}` })
  const format = yield* load(name)
  const entries = yield* Effect.mapError(
    withDefaultSignals(Effect.suspend(() => format.read(Redacted.value(text)))),
    ({ line, problem }) => refuse(line, problem)
  )
  const lines = new Map<string, number>()
  const found = new Map<SecretKey, typeof RedactedSecretValue.Type>()
  for (const { key, line, value } of entries) {
    const first = lines.get(key)
    if (first !== undefined) return yield* refuse(line, `${key} is here again, after line ${first}; remove one`)
    lines.set(key, line)
    found.set(
      yield* Either.mapLeft(decodeKey(key), ({ message }) => refuse(line, `${JSON.stringify(key)}: ${message}`)),
      yield* Either.mapLeft(decodeValue(value), ({ message }) => refuse(line, `${key}: ${message}`))
    )
  }
  const secrets: SecretMap = found
  return secrets
})
