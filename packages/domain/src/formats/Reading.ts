import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { sentenceOf } from "../errors/BrokenRules.js"
import { SecretKey } from "../base/Names.js"
import { RedactedSecretValue } from "../secrets/SecretValues.js"
import { expandVariables } from "./EnvExpansion.js"
import { notesOfEntry } from "./EnvNotes.js"
import { BadFile, type Entry, type Format, type Mistake } from "./Format.js"
import type { FormatName } from "./FormatNames.js"

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
  /** The texts of references that were made of variables. */
  readonly references: SecretMap
  /** Warnings about anything in a value that a person may not expect. */
  readonly warnings: ReadonlyArray<string>
}

/** Keys that another manager writes about itself. */
const foreign: ReadonlyArray<readonly [pattern: RegExp, owner: string]> = [
  [/^DOPPLER_(?:PROJECT|CONFIG|ENVIRONMENT)$/, "Doppler's own: it names a place there"],
  [/^DOTENV_PUBLIC_KEY(?:_|$)/, "dotenvx's own: it encrypts values there"]
]

const isEncrypted = (value: string) => /^encrypted:[A-Za-z0-9+/=]{20,}$/.test(value)

const encrypted =
  "is a value that dotenvx encrypted; import what it decrypts: dotenvx decrypt --stdout | coffer import - --format env"

/** Returns the warnings about anything in an entry that a person may not expect. */
const warningsOf = (entry: Entry): ReadonlyArray<string> => {
  const { key } = entry
  const owners = foreign.flatMap(([pattern, owner]) => (pattern.test(key) ? [`is ${owner}`] : []))
  return [...notesOfEntry(entry), ...owners].map((note) => `${key} ${note}`)
}

const isVariable = (part: string) => part.startsWith("$")

/** Makes references of the variables in values, where other keys of the file have their names. */
const expandAll = (entries: ReadonlyArray<Entry>) => {
  const keys = new Set(entries.map(({ key }) => key))
  return entries.map((entry) => {
    const { isExpandable, kept = [], key, value } = entry
    const isOtherKey = (name: string) => name !== key && keys.has(name)
    const expanded = isExpandable === true ? expandVariables(value, isOtherKey) : undefined
    if (expanded === undefined) return { entry, isReference: false }
    const left = expanded.isPartial ? kept : kept.filter((part) => !isVariable(part))
    return { entry: { ...entry, value: expanded.text, kept: left }, isReference: true }
  })
}

interface ReadOptions {
  /** Make references of the variables that name other keys of the file. */
  readonly expand?: boolean
}

/** Reads the secrets of a file. Fails with all bad lines, keys and values, and all keys that stand twice. */
export const readSecrets = Effect.fnUntraced(function* (
  name: FormatName,
  file: string,
  text: Redacted.Redacted,
  { expand = false }: ReadOptions = {}
): Effect.fn.Return<SecretsRead, BadFile> {
  const format = yield* loadFormat(name)
  const reading = yield* Effect.sync(() => format.read(Redacted.value(text)))
  const { entries, mistakes: unreadable } = Either.match(reading, {
    onLeft: ({ entries, mistakes }) => ({ entries: Redacted.value(entries), mistakes }),
    onRight: (entries) => ({ entries, mistakes: [] })
  })
  const lines = new Map<string, number>()
  const secrets = new Map<SecretKey, typeof RedactedSecretValue.Type>()
  const references = new Map<SecretKey, typeof RedactedSecretValue.Type>()
  const mistakes: Array<Mistake> = [...unreadable]
  const warnings: Array<string> = []
  const read = expand ? expandAll(entries) : entries.map((entry) => ({ entry, isReference: false }))
  for (const { entry, isReference } of read) {
    const { key, line, value } = entry
    const first = lines.get(key)
    if (first !== undefined) mistakes.push({ line, problem: `${key} is here again, after line ${first}; remove one` })
    else lines.set(key, line)
    const name = decodeKey(key)
    const redacted = decodeValue(value)
    if (Either.isLeft(name))
      mistakes.push({ line, problem: `${JSON.stringify(key)}: ${sentenceOf(name.left, "is not a key")}` })
    else if (Either.isLeft(redacted))
      mistakes.push({ line, problem: `${key}: ${sentenceOf(redacted.left, "is not a value")}` })
    else if (isEncrypted(value)) mistakes.push({ line, problem: `${key}: ${encrypted}` })
    else (isReference ? references : secrets).set(name.right, redacted.right)
    for (const warning of warningsOf(entry)) warnings.push(`${file}, line ${line}: ${warning}`)
  }
  mistakes.sort((a, b) => a.line - b.line)
  if (Array.isNonEmptyReadonlyArray(mistakes)) return yield* new BadFile({ file, mistakes })
  return { secrets, references, warnings }
})
