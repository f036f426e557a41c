import { maxBundleKeys } from "@coffer/domain/api/EnvironmentsApi"
import { sentenceOf } from "@coffer/domain/errors/BrokenRules"
import { afterObject, takeObject, takeText } from "@coffer/domain/formats/Json"
import { Scanner } from "@coffer/domain/formats/Scanner"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { RedactedSecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { readFile, stat } from "node:fs/promises"
import { local } from "../../base/files/LocalFiles.js"
import type { Value } from "../../keys/Envelope.js"
import { DevRefused } from "./DevRefused.js"

/** The secrets of each environment, in the order of the file. */
export type Seed = ReadonlyMap<EnvName, ReadonlyMap<SecretKey, Value>>

const maxBytes = 64 * 1024 * 1024

const decodeEnv = Schema.decodeUnknownEither(EnvName)
const decodeKey = Schema.decodeUnknownEither(SecretKey)
const decodeValue = Schema.decodeUnknownEither(RedactedSecretValue)

/** Reads an object of environments, each an object of texts. The failure has the line and no value. */
const parse = (text: string): Either.Either<Seed, string> => {
  const scanner = new Scanner(text)
  const seed = new Map<EnvName, ReadonlyMap<SecretKey, Value>>()
  let problem: string | undefined
  /** Keeps the first problem. Returns whether there is none yet. */
  const refuse = (what: string | undefined) => {
    problem ??= what
    return problem === undefined
  }

  const secrets = (env: EnvName) => {
    const values = new Map<SecretKey, Value>()
    const wrong = takeObject(scanner, '{"KEY": "value"}', (name) => {
      const key = decodeKey(name)
      if (Either.isLeft(key)) {
        return refuse(`${env}: ${JSON.stringify(name)}: ${sentenceOf(key.left, "is not a key")}`)
      }
      if (values.has(key.right)) return refuse(`${env}.${name} is here twice: remove one`)
      if (values.size === maxBundleKeys) return refuse(`${env} has more than ${maxBundleKeys} secrets`)
      const value = Either.flatMap(
        Either.fromNullable(takeText(scanner), () => "the value must be a text in double quotes, of at most 64 KB"),
        (found) => Either.mapLeft(decodeValue(found), (error) => sentenceOf(error, "is not a value"))
      )
      if (Either.isLeft(value)) return refuse(`${env}.${name}: ${value.left}`)
      values.set(key.right, value.right)
      return true
    })
    seed.set(env, values)
    return refuse(typeof wrong === "string" ? `${env} ${wrong}` : undefined)
  }

  const wrong = takeObject(scanner, '{"dev": {"KEY": "value"}}', (name) => {
    const env = decodeEnv(name)
    if (Either.isLeft(env)) return refuse(`${JSON.stringify(name)}: ${sentenceOf(env.left, "is not an environment")}`)
    if (seed.has(env.right)) return refuse(`${name} is here twice: remove one`)
    return secrets(env.right)
  })
  problem ??= wrong ?? afterObject(scanner)
  return problem === undefined ? Either.right(seed) : Either.left(`line ${scanner.lineAt(scanner.at)}: ${problem}`)
}

/** Reads a seed file. */
export const readSeed = (file: string): Effect.Effect<Seed, DevRefused> => {
  const refused = (reason: string) => new DevRefused({ message: `${file}${reason}` })
  return Effect.gen(function* () {
    const { size } = yield* local(() => stat(file))
    if (size > maxBytes) return yield* refused(" is larger than 64 MiB, more than a seed may be")
    const bytes = yield* local(() => readFile(file))
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => refused(" is not UTF-8")
    })
    return yield* Effect.mapError(parse(text), (problem) => refused(`, ${problem}`))
  }).pipe(Effect.catchTag("LocalFailure", ({ reason }) => refused(` cannot be read: ${reason}`)))
}
