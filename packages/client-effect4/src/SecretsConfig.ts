import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SchemaIssue from "effect/SchemaIssue"
import type { CofferService, Snapshot } from "./Service.js"

/** Effect's own sentences about a text. Any other sentence may repeat a part of the text. */
const forms = new Map([
  ["Expected a string representing a finite number", "a number"],
  ["Expected an integer", "an integer"],
  ["Expected a value between 1 and 65535", "a network port"],
  ["Expected a valid Date", "a date"],
  ["Expected a valid Duration string", "a duration"],
  ["Expected a valid URL string", "a URL"],
  [`Expected "true" | "yes" | "on" | "1" | "y" | "false" | "no" | "off" | "0" | "n"`, "a boolean"]
])

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Receives the keys that a config asks for. */
interface Note {
  readonly secret: (key: string, text: string) => void
  /** A key that the secrets do not have, and whether the other provider has it. */
  readonly other: (key: string, exists: boolean) => void
}

/** Loads from the secrets of a snapshot, then from another provider. */
const loading = ({ place, refused, values }: Snapshot, others: ConfigProvider.ConfigProvider, note?: Note) => {
  // With refused keys, whose load fails: a table without them would look whole.
  const texts = [...refused, ...values].map(([key, v]) => [key, typeof v === "string" ? v : Redacted.value(v)] as const)
  const own = ConfigProvider.fromEnvRecord(Object.fromEntries(texts), { preserveEmptyStrings: true })
  return Effect.fnUntraced(function* (path: ConfigProvider.Path) {
    const key = path.join("_")
    const why = refused.get(key)
    if (why !== undefined) return yield* new ConfigProvider.SourceError({ message: `${why} (${place})` })
    const node = yield* own.load(path)
    if (node?.value !== undefined) {
      note?.secret(key, node.value)
      return node
    }
    const other = yield* others.load(path)
    note?.other(key, other !== undefined)
    if (node?._tag !== "Record" || other === undefined) return node ?? other
    return ConfigProvider.makeRecord(new Set([...node.keys, ...("keys" in other ? other.keys : [])]), other.value)
  })
}

/** Has the current secrets, then what the other provider has. It sees keys and not configs, so that it changes no error. */
export const secretsProvider = ({ snapshot }: Pick<CofferService, "snapshot">, others: ConfigProvider.ConfigProvider) =>
  ConfigProvider.make((path) => Effect.flatMap(snapshot, (taken) => loading(taken, others)(path)))

/** Reads a config from the secrets, then from the provider before. After a secret was read, errors name keys alone. */
export const readConfig = Effect.fnUntraced(function* <A>({ snapshot }: CofferService, config: Config.Config<A>) {
  const taken = yield* snapshot
  const { place } = taken
  const others = yield* ConfigProvider.ConfigProvider
  const secrets = new Map<string, string>()
  /** The other keys that the config has asked for, and whether the other provider has them. */
  const elsewhere = new Map<string, boolean>()
  const safe = new WeakSet<object>()
  const load = loading(taken, others, {
    secret: (key, text) => secrets.set(key, text),
    other: (key, exists) => elsewhere.set(key, exists)
  })
  const provider = ConfigProvider.make((path) =>
    Effect.tapError(load(path), (error) => Effect.sync(() => safe.add(error)))
  )
  const fail = (message: string) =>
    Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message: `${message} (${place})` })))

  const isName = (key: string) =>
    (secrets.has(key) || elsewhere.has(key)) && ![...secrets.values()].some((text) => text !== "" && key.includes(text))

  return yield* Effect.catchCause(config.parse(provider), (cause) => {
    const error = cause.reasons.find(Cause.isFailReason)?.error
    if (error?.cause._tag === "SourceError" && safe.has(error.cause)) return Effect.fail(error)
    const [first] = error?.cause._tag === "SchemaError" ? formatIssue(error.cause.issue).issues : []
    const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part))
    // A part of a list has an index after the key.
    const key = path.map((_, index) => path.slice(0, path.length - index).join("_")).find(isName)
    if (key !== undefined && elsewhere.get(key) === false) return fail(`${key} does not exist`)
    if (secrets.size === 0 || Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
    const form = forms.get(first?.message ?? "") ?? "valid"
    return fail(`${key ?? `the value of ${[...secrets.keys()].join(", ")}`} is not ${form}`)
  })
})
