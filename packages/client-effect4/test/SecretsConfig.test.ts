import { Cause, Config, ConfigProvider, Effect, Exit, Fiber, Layer, Logger, Redacted, Schema, Stream } from "effect"
import { inspect } from "node:util"
import { assert, describe, it } from "vitest"
import { Coffer, TestCoffer } from "../src/index.js"

const canary = "canary-5f1d"

const secrets = Coffer.layerTest({
  DB_HOST: "db.internal",
  DB_PORT: "5432",
  HOSTS: "one,two",
  BAD: canary,
  BAD_PAIR: `1,${canary}`,
  EMPTY: "",
  SHARED: "from Coffer",
  SHORT_NAME: "1"
})
const env = { SHARED: "from before", OTHER: "from before", OTHER_PORT: "x", SHORT: "from before", DB_USER: "shop" }
const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const load = <A>(config: Config.Config<A>) =>
  Coffer.withSecrets(config).pipe(Effect.provide(Layer.merge(secrets, environment)))
const failureOf = <A>(config: Config.Config<A>) => Effect.runPromise(Effect.flip(load(config)))
const valueOf = <A>(config: Config.Config<A>) => Effect.runPromise(load(config))

describe("Config over the secrets of an environment, on Effect 4", () => {
  it("reads them first, then what was there", async () => {
    assert.strictEqual(await valueOf(Config.String("SHARED")), "from Coffer")
    assert.strictEqual(await valueOf(Config.String("OTHER")), "from before")
    assert.strictEqual(await valueOf(Config.String("SHORT")), "from before")
    assert.strictEqual(await valueOf(Config.String("EMPTY")), "")
  })

  it("joins nested names as environment variables do, and reads lists and tables", async () => {
    const db = Config.nested(Config.all({ host: Config.String("HOST"), port: Config.Port("PORT") }), "DB")
    assert.deepStrictEqual(await valueOf(db), { host: "db.internal", port: 5432 })
    assert.deepStrictEqual(await valueOf(Config.Array(Schema.String, "HOSTS")), ["one", "two"])
    const table = { HOST: "db.internal", PORT: "5432", USER: "shop" }
    assert.deepStrictEqual(await valueOf(Config.Record(Schema.String, Schema.String, "DB")), table)
  })

  it("has missing data for a key that does not exist, so that defaults and fallbacks work", async () => {
    assert.strictEqual(await valueOf(Config.withDefault(Config.String("NONE"), "default")), "default")
    assert.strictEqual(
      await valueOf(Config.orElse(Config.String("NONE"), () => Config.String("DB_HOST"))),
      "db.internal"
    )
    assert.include((await failureOf(Config.String("NONE"))).message, "NONE does not exist (test/test/test)")
  })

  it("fails on a value that does not fit, whatever the provider before has", async () => {
    const error = await failureOf(Config.withDefault(Config.Int("SHARED"), 1))
    assert.include(error.message, "SHARED is not a number (test/test/test)")
  })

  it("keeps the errors of the provider before", async () => {
    assert.include((await failureOf(Config.Port("OTHER_PORT"))).message, `at ["OTHER_PORT"]`)
    const both = await failureOf(Config.all([Config.String("SHARED"), Config.Port("OTHER_PORT")]))
    assert.include(both.message, "OTHER_PORT is not a number")
  })
})

describe("no error shows a value, on Effect 4", () => {
  const repeats = Schema.String.check(Schema.makeFilter((text) => `not ${text}`))
  const reported = Schema.Literals(["a"]).annotate({ parseOptions: { reportInput: true } })
  const cases: ReadonlyArray<readonly [string, Config.Config<unknown>, string]> = [
    ["a URL", Config.URL("BAD"), "BAD is not a URL (test/test/test)"],
    ["an integer", Config.Int("BAD"), "BAD is not a number (test/test/test)"],
    ["a fraction", Config.Number("BAD"), "BAD is not a number (test/test/test)"],
    ["a boolean", Config.Boolean("BAD"), "BAD is not a boolean (test/test/test)"],
    ["a port", Config.Port("BAD"), "BAD is not a number (test/test/test)"],
    ["a date", Config.Date("BAD"), "BAD is not a date (test/test/test)"],
    ["a duration", Config.Duration("BAD"), "BAD is not a duration (test/test/test)"],
    ["a size", Config.ByteSize("BAD"), "BAD is not valid (test/test/test)"],
    ["a literal", Config.Literals(["a", "b"], "BAD"), "BAD is not valid (test/test/test)"],
    ["a log level", Config.LogLevel("BAD"), "BAD is not valid (test/test/test)"],
    ["a list", Config.Array(Schema.Int, "BAD_PAIR"), "BAD_PAIR is not a number (test/test/test)"],
    ["a nested one", Config.nested(Config.Int("PAIR"), "BAD"), "BAD_PAIR is not a number (test/test/test)"],
    ["a redacted integer", Config.schema(Schema.Redacted(Schema.Int), "BAD"), "BAD is not a number (test/test/test)"],
    ["a schema that repeats it", Config.schema(repeats, "BAD"), "BAD is not valid (test/test/test)"],
    ["a schema that reports it", Config.schema(reported, "BAD"), "BAD is not valid (test/test/test)"],
    [
      "a struct",
      Config.schema(Schema.Struct({ PAIR: Schema.Int }), "BAD"),
      "BAD_PAIR is not a number (test/test/test)"
    ],
    [
      "a name that a value makes",
      Config.flatMap(Config.String("BAD"), (name) => Config.Int(name)),
      "the value of BAD is not valid (test/test/test)"
    ],
    [
      "an effect that repeats it",
      Config.mapEffect(Config.String("BAD"), (message) =>
        Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
      ),
      "the value of BAD is not valid (test/test/test)"
    ],
    [
      "a fallback that repeats it",
      Config.orElse(Config.schema(repeats, "BAD"), ({ message }) =>
        Config.fail(new ConfigProvider.SourceError({ message }))
      ),
      "the value of BAD is not valid (test/test/test)"
    ],
    [
      "a function that throws",
      Config.map(Config.String("BAD"), (text): unknown => JSON.parse(text)),
      "the value of BAD is not valid (test/test/test)"
    ],
    ["two at once", Config.all([Config.Int("BAD"), Config.URL("BAD")]), "BAD is not a number (test/test/test)"]
  ]

  it.each(cases)("%s", async (_, config, sentence) => {
    const logged: Array<string> = []
    const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])
    const exit = await load(config).pipe(
      Effect.tapCause((cause) => Effect.logError("no configuration", cause)),
      Effect.withSpan("start"),
      Effect.provide(logger),
      Effect.runPromiseExit
    )
    const cause = Exit.isFailure(exit) ? exit.cause : assert.fail("it was read")
    const shown = [Cause.pretty(cause), JSON.stringify(cause), String(cause), inspect(cause, { depth: 9 }), ...logged]
    assert.lengthOf(shown, 5)
    for (const text of shown) assert.notInclude(text, canary)
    assert.include(Cause.pretty(cause), sentence)
  })
})

describe("Config with the provider of the secrets, on Effect 4", () => {
  const provided = Layer.provideMerge(Coffer.layerConfigProvider, Layer.merge(secrets, environment))
  const read = <A>(config: Config.Config<A>) => Effect.provide(config, provided)

  it("reads them first, then what was there, with nested names", async () => {
    const db = Config.nested(Config.all({ host: Config.String("HOST"), port: Config.Port("PORT") }), "DB")
    const found = Config.all([Config.String("SHARED"), Config.String("OTHER"), db])
    assert.deepStrictEqual(await Effect.runPromise(read(found)), [
      "from Coffer",
      "from before",
      { host: "db.internal", port: 5432 }
    ])
    const none = Config.withDefault(Config.String("NONE"), "default")
    assert.strictEqual(await Effect.runPromise(read(none)), "default")
  })

  it("has the new value after a change", () =>
    Effect.gen(function* () {
      const test = yield* TestCoffer
      yield* test.set("LATE", "1")
      assert.strictEqual(yield* Config.Int("LATE"), 1)
      yield* test.set("LATE", "2")
      assert.strictEqual(yield* Config.Int("LATE"), 2)
    }).pipe(Effect.provide(provided), Effect.runPromise))

  it.each<readonly [string, Config.Config<unknown>]>([
    ["a URL", Config.URL("BAD")],
    ["an integer", Config.Int("BAD")],
    ["a fraction", Config.Number("BAD")],
    ["a boolean", Config.Boolean("BAD")],
    ["a port", Config.Port("BAD")],
    ["a date", Config.Date("BAD")],
    ["a duration", Config.Duration("BAD")],
    ["a size", Config.ByteSize("BAD")],
    ["a literal", Config.Literals(["a", "b"], "BAD")],
    ["a log level", Config.LogLevel("BAD")],
    ["a list", Config.Array(Schema.Int, "BAD_PAIR")],
    ["a redacted integer", Config.schema(Schema.Redacted(Schema.Int), "BAD")]
  ])("shows no value in the error of Effect's own config for %s", async (_, config) => {
    const exit = await Effect.runPromiseExit(read(config))
    const cause = Exit.isFailure(exit) ? exit.cause : assert.fail("it was read")
    const shown = [Cause.pretty(cause), JSON.stringify(cause), String(cause), inspect(cause, { depth: 9 })]
    for (const text of shown) assert.notInclude(text, canary)
    assert.include(Cause.pretty(cause), "BAD")
  })
})

describe("Coffer.layerTest on Effect 4", () => {
  it("emits each change of TestCoffer", () =>
    Effect.gen(function* () {
      const [coffer, test] = [yield* Coffer, yield* TestCoffer]
      assert.strictEqual(String(yield* coffer.get("DB_HOST")), "<redacted>")
      const following = yield* coffer.changes.pipe(
        Stream.map(({ values }) => values.get("A") ?? Redacted.make("none")),
        Stream.map(Redacted.value),
        Stream.take(3),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* test.set("A", "1")
      yield* test.remove("A")
      assert.deepStrictEqual([...(yield* Fiber.join(following))], ["none", "1", "none"])
      assert.strictEqual((yield* coffer.refresh).revision, 3)
      assert.strictEqual((yield* Effect.flip(coffer.get("A"))).message, "A does not exist in test/test/test")
    }).pipe(Effect.provide(secrets), Effect.runPromise))
})
