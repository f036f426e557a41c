import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Config,
  ConfigError,
  ConfigProvider,
  Effect,
  Either,
  Exit,
  HashMap,
  Layer,
  Logger,
  Schema,
  Tracer
} from "effect"
import { Coffer } from "../src/Coffer.js"
import { secretsProvider } from "../src/SecretsConfig.js"

const canary = "canary-5f1d"

const secrets = Coffer.layerTest({
  DB_HOST: "db.internal",
  DB_PORT: "5432",
  HOSTS: "one, two",
  BAD: canary,
  BAD_PAIR: `1,${canary}`,
  EMPTY: "",
  SHARED: "from Coffer"
})
const environment = Layer.setConfigProvider(
  ConfigProvider.fromMap(
    new Map([
      ["SHARED", "from before"],
      ["OTHER", "from before"],
      ["OTHER_PORT", "x"]
    ]),
    { pathDelim: "_" }
  )
)
const provided = Coffer.layerConfigProvider.pipe(Layer.provideMerge(secrets), Layer.provideMerge(environment))

const load = <A>(config: Config.Config<A>) => Effect.provide(config, provided)
const failureOf = <A>(config: Config.Config<A>) => Effect.flip(load(config))

describe("Config over the secrets of an environment", () => {
  it.effect("reads them first, then what was there", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* load(Config.string("SHARED")), "from Coffer")
      assert.strictEqual(yield* load(Config.string("OTHER")), "from before")
    })
  )

  it.effect("joins nested names as environment variables do, and reads lists and tables", () =>
    Effect.gen(function* () {
      const db = Config.nested(Config.all({ host: Config.string("HOST"), port: Config.port("PORT") }), "DB")
      assert.deepStrictEqual(yield* load(db), { host: "db.internal", port: 5432 })
      assert.deepStrictEqual(yield* load(Config.array(Config.string(), "HOSTS")), ["one", "two"])
      const table = yield* load(Config.hashMap(Config.string(), "DB"))
      assert.deepStrictEqual(Object.fromEntries(HashMap.toEntries(table)), { HOST: "db.internal", PORT: "5432" })
    })
  )

  it.effect("has missing data for a key that does not exist, so that defaults and fallbacks work", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* load(Config.withDefault(Config.string("NONE"), "default")), "default")
      assert.strictEqual(
        yield* load(Config.orElse(Config.string("NONE"), () => Config.string("DB_HOST"))),
        "db.internal"
      )
      const error = yield* failureOf(Config.string("NONE"))
      assert.isTrue(ConfigError.isMissingDataOnly(error))
      assert.include(error.message, "NONE does not exist in test/test/test")
      const hidden = yield* failureOf(Config.redacted("NONE"))
      assert.isTrue(ConfigError.isMissingDataOnly(hidden))
      assert.include(hidden.message, "NONE does not exist in test/test/test")
    })
  )

  it.effect("fails on a value that does not fit, whatever the provider before has", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(Config.withDefault(Config.integer("SHARED"), 1))
      assert.include(String(error), "SHARED is not an integer (test/test/test)")
    })
  )

  it.effect("keeps the errors of the provider before", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(Config.port("OTHER_PORT"))
      assert.include(String(error), `Expected a network port value but received "x"`)
      const both = yield* failureOf(Config.all([Config.string("SHARED"), Config.port("OTHER_PORT")]))
      assert.include(String(both), `Expected a network port value but received "x"`)
      const hidden = Config.all([Config.string("SHARED"), Config.redacted(Config.port("OTHER_PORT"))])
      assert.strictEqual(String(yield* failureOf(hidden)), `(Invalid data at OTHER_PORT: "<redacted>")`)
    })
  )

  it.effect("works below combinators of providers", () =>
    Effect.gen(function* () {
      const coffer = yield* Coffer
      const other = ConfigProvider.constantCase(ConfigProvider.fromMap(new Map([["OTHER_KEY", "there"]])))
      const provider = ConfigProvider.constantCase(secretsProvider(coffer, other))
      assert.strictEqual(yield* provider.load(Config.string("dbHost")), "db.internal")
      assert.strictEqual(yield* provider.load(Config.string("otherKey")), "there")
      const error = yield* Effect.flip(provider.load(Config.integer("bad")))
      assert.include(String(error), "BAD is not an integer")
      assert.notInclude(String(error), canary)
    }).pipe(Effect.provide(secrets))
  )

  it.effect("is there for one effect", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Coffer.withSecrets(Config.string("DB_HOST")), "db.internal")
      assert.isTrue(Either.isLeft(yield* Effect.either(Config.string("DB_HOST"))))
    }).pipe(Effect.provide(Layer.merge(secrets, environment)))
  )
})

describe("no error shows a value", () => {
  const cases: ReadonlyArray<readonly [string, Config.Config<unknown>, string]> = [
    ["a URL", Config.url("BAD"), "BAD is not a URL (test/test/test)"],
    ["an integer", Config.integer("BAD"), "BAD is not an integer (test/test/test)"],
    ["a number", Config.number("BAD"), "BAD is not a number (test/test/test)"],
    ["a boolean", Config.boolean("BAD"), "BAD is not a boolean (test/test/test)"],
    ["a port", Config.port("BAD"), "BAD is not a network port (test/test/test)"],
    ["a date", Config.date("BAD"), "BAD is not a date (test/test/test)"],
    ["a literal", Config.literal("a", "b")("BAD"), "BAD is not one of (a, b) (test/test/test)"],
    ["a duration", Config.duration("BAD"), "BAD is not a duration (test/test/test)"],
    ["a log level", Config.logLevel("BAD"), "BAD is not a log level (test/test/test)"],
    ["a list", Config.array(Config.integer(), "BAD_PAIR"), "BAD_PAIR is not an integer (test/test/test)"],
    ["a non-empty text", Config.nonEmptyString("EMPTY"), "EMPTY"],
    ["a redacted integer", Config.redacted(Config.integer("BAD")), "BAD is not an integer (test/test/test)"],
    [
      "a redacted schema",
      Config.redacted(Schema.Config("BAD", Schema.NumberFromString)),
      "BAD is not valid (test/test/test)"
    ],
    ["a schema", Schema.Config("BAD", Schema.NumberFromString), "BAD is not valid (test/test/test)"],
    ["a nested one", Config.nested(Config.integer("PAIR"), "BAD"), "BAD_PAIR is not an integer (test/test/test)"],
    [
      "a validation without a name",
      Config.string("BAD").pipe(
        Config.map((text) => text),
        Config.mapOrFail((text) => Either.left(ConfigError.InvalidData([], `not ${text}`)))
      ),
      "the value of BAD is not valid (test/test/test)"
    ],
    [
      "an attempt",
      Config.mapAttempt(Config.string("BAD"), (text): unknown => JSON.parse(text)),
      "BAD is not valid (test/test/test)"
    ],
    [
      "missing data that repeats it",
      Config.mapOrFail(Config.string("BAD"), (text) => Either.left(ConfigError.MissingData([], `no ${text}`))),
      "BAD is missing (test/test/test)"
    ],
    ["two at once", Config.all([Config.integer("BAD"), Config.url("BAD")]), "BAD is not a URL (test/test/test)"]
  ]

  it.effect.each(cases)("%s", ([, config, sentence]) =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const spans: Array<Tracer.Span> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: (run, fiber) => native.context(run, fiber),
        span: (...args) => {
          const span = native.span(...args)
          spans.push(span)
          return span
        }
      })
      const exit = yield* Effect.logError("it failed").pipe(
        Effect.zipRight(load(config)),
        Effect.tapErrorCause((cause) => Effect.logError("no configuration", cause)),
        Effect.withSpan("start"),
        Effect.withTracer(tracer),
        Effect.provide(
          Logger.replace(
            Logger.defaultLogger,
            Logger.map(Logger.logfmtLogger, (line) => void logged.push(line))
          )
        ),
        Effect.exit
      )
      const cause = Exit.match(exit, { onFailure: (cause) => cause, onSuccess: () => assert.fail("it was read") })
      const shown = [Cause.pretty(cause), JSON.stringify(cause), String(cause), ...logged]
      const [span] = spans
      assert.isDefined(span)
      if (span?.status._tag === "Ended") {
        const { exit } = span.status
        if (Exit.isFailure(exit)) shown.push(Cause.pretty(exit.cause))
      }
      assert.isAtLeast(shown.length, 6)
      for (const text of shown) assert.notInclude(text, canary)
      assert.include(Cause.pretty(cause), sentence)
    })
  )
})
