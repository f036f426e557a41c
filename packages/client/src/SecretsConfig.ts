import type * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as PathPatch from "effect/ConfigProviderPathPatch"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Redacted from "effect/Redacted"
import type { CofferService, Snapshot } from "./Service.js"

/** Nested names are joined as in environment variables: `Config.nested("DB")` reads `DB_HOST`. */
const keyOf = (path: ReadonlyArray<string>): string => path.join("_")

/** The names below a path, also of refused keys: a table without them would hide the refusal. */
const childrenOf = ({ refused, values }: Snapshot, path: ReadonlyArray<string>): HashSet.HashSet<string> =>
  HashSet.fromIterable(
    [...values.keys(), ...refused.keys()].flatMap((key) => {
      const names = key.split("_")
      return path.every((name, index) => names[index] === name) ? names.slice(path.length, path.length + 1) : []
    })
  )

/** `a URL` for the toolkit's "an URL property". */
const describe = (primitive: Config.Config.Primitive<unknown>): string =>
  primitive.description.replace(/ property$/, "").replace(/^an URL$/, "a URL")

/** The toolkit's `orElse` reports the failures of both providers. */
const lastOf = (error: ConfigError.ConfigError): ConfigError.ConfigError => (error._op === "Or" ? error.right : error)

type Leaf = Exclude<ConfigError.ConfigError, ConfigError.And | ConfigError.Or>

/** The message of a failed `Config.redacted`. */
const redacted = "<redacted>"

/** The type that the toolkit expected, in messages that state it beside the text. */
const expected = /^Expected (a duration|a log level) but received /

/**
 * Loads one config from a snapshot, then from another provider. Effect's own errors repeat the text that they could not
 * parse, so all errors about secrets are replaced by errors that name the key and the place.
 */
const reading = (snapshot: Snapshot, others: ConfigProvider.ConfigProvider.Flat) => {
  const { place, refused, values } = snapshot
  /** The secrets that this config has read, with their texts. */
  const secrets = new Map<string, string>()
  /** The keys that the other provider has. */
  const elsewhere = new Set<string>()
  /** Messages without the text of a secret. Not the errors themselves: within a span, Effect fails with a proxy of them. */
  const safe = new Set<string>()
  /** The sentences about the keys that failed. `Config.redacted` hides them, although they show no value. */
  const sentences = new Map<string, string>()
  const note = (error: ConfigError.ConfigError): void => {
    if (error._op === "And" || error._op === "Or") [error.left, error.right].forEach(note)
    else safe.add(error.message)
  }
  const noted = (error: ConfigError.ConfigError) => {
    note(error)
    return error
  }
  const said = (path: ReadonlyArray<string>, sentence: string) => {
    sentences.set(keyOf(path), sentence)
    return sentence
  }
  const missing = (path: ReadonlyArray<string>, sentence: string) =>
    noted(ConfigError.MissingData([...path], said(path, sentence)))
  const invalid = (path: ReadonlyArray<string>, message: string) =>
    noted(ConfigError.InvalidData([...path], said(path, `${message} (${place})`)))

  const parse = <A>(path: ReadonlyArray<string>, text: string, primitive: Config.Config.Primitive<A>) =>
    Effect.mapError(primitive.parse(text), (error) =>
      ConfigError.isMissingDataOnly(error)
        ? missing(path, `${keyOf(path)} is empty (${place})`)
        : invalid(path, `${keyOf(path)} is not ${describe(primitive)}`)
    )

  const fromOthers = <A>(path: ReadonlyArray<string>, primitive: Config.Config.Primitive<A>, split?: boolean) =>
    others.load(path, primitive, split).pipe(
      Effect.tap(() => Effect.sync(() => elsewhere.add(keyOf(path)))),
      Effect.mapError((both) => {
        const error = lastOf(both)
        return ConfigError.isMissingDataOnly(error)
          ? missing(path, `${keyOf(path)} does not exist in ${place}; ${error.message}`)
          : noted(error)
      })
    )

  const flat = ConfigProvider.makeFlat({
    load: (path, primitive, split) => {
      const key = keyOf(path)
      const value = values.get(key)
      if (value === undefined) {
        const why = refused.get(key)
        return why === undefined ? fromOthers(path, primitive, split) : Effect.fail(invalid(path, why))
      }
      const text = Redacted.value(value)
      secrets.set(key, text)
      return Effect.forEach(split ? text.split(",").map((part) => part.trim()) : [text], (part) =>
        parse(path, part, primitive)
      )
    },
    enumerateChildren: (path) =>
      Effect.map(others.enumerateChildren(path), (names) => HashSet.union(names, childrenOf(snapshot, path))),
    patch: PathPatch.empty
  })

  const hasText = (message: string) =>
    [...secrets.values()].some((text) => message.includes(text) || message.includes(JSON.stringify(text).slice(1, -1)))

  const withoutText = ({ _op, message, path }: Leaf) => {
    const key = keyOf(path)
    if (_op === "MissingData") return ConfigError.MissingData([...path], `${key} is missing (${place})`)
    const [, form = "valid"] = expected.exec(message) ?? []
    if (secrets.has(key)) return invalid(path, `${key} is not ${form}`)
    return invalid(path, `${elsewhere.has(key) ? key : `the value of ${[...secrets.keys()].join(", ")}`} is not valid`)
  }

  const isSafe = ({ _op, message, path }: Leaf) =>
    secrets.size === 0 ||
    safe.has(message) ||
    (message === redacted && !secrets.has(keyOf(path))) ||
    (_op !== "InvalidData" && !hasText(message))

  const withoutTexts = (error: ConfigError.ConfigError): ConfigError.ConfigError => {
    if (error._op === "And") return ConfigError.And(withoutTexts(error.left), withoutTexts(error.right))
    if (error._op === "Or") return ConfigError.Or(withoutTexts(error.left), withoutTexts(error.right))
    const { _op, message, path } = error
    const hidden = message === redacted ? sentences.get(keyOf(path)) : undefined
    if (hidden !== undefined) {
      return _op === "MissingData"
        ? ConfigError.MissingData([...path], hidden)
        : ConfigError.InvalidData([...path], hidden)
    }
    return isSafe(error) ? error : withoutText(error)
  }

  return { flat, withoutTexts }
}

/** Reads a config from the secrets first, then from the other provider. Combinators of providers use `flattened`, not `load`. */
export const secretsProvider = (
  { snapshot }: Pick<CofferService, "snapshot">,
  other: ConfigProvider.ConfigProvider
): ConfigProvider.ConfigProvider => {
  // `orElse` applies the path changes of the other provider, such as its `constantCase`.
  const others = ConfigProvider.orElse(ConfigProvider.fromMap(new Map()), () => other).flattened
  const start = Effect.map(snapshot, (taken) => reading(taken, others))
  return ConfigProvider.make({
    load: (config) =>
      Effect.flatMap(start, ({ flat, withoutTexts }) =>
        Effect.mapError(ConfigProvider.fromFlat(flat).load(config), withoutTexts)
      ),
    flattened: ConfigProvider.makeFlat({
      load: (path, primitive, split) => Effect.flatMap(start, ({ flat }) => flat.load(path, primitive, split)),
      enumerateChildren: (path) => Effect.flatMap(start, ({ flat }) => flat.enumerateChildren(path)),
      patch: PathPatch.empty
    })
  })
}

/** Runs an effect with the provider of the secrets. */
export const withProvider =
  (coffer: Pick<CofferService, "snapshot">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.configProviderWith((other) => Effect.withConfigProvider(effect, secretsProvider(coffer, other)))
