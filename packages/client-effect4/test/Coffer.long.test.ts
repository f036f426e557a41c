import {
  Cause,
  Config,
  ConfigProvider,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Redacted,
  Schedule,
  Schema,
  Scope,
  Stream
} from "effect"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../../client/src/testing/ServerProcess.js"
import { type Account, testPlace } from "../../client/test/support/Place.js"
import { Coffer, type Options, type Snapshot } from "../src/index.js"

const place = testPlace()
let reader: Account

beforeAll(async () => {
  reader = await place.account("reader", "app*")
})

const options = (env: string, more: Partial<Options> = {}, { apiKey } = reader): Options => ({
  server: place.bridge.url,
  place: `acme/webshop/${env}`,
  credential: { apiKey: Redacted.make(apiKey) },
  every: 200,
  ...more
})

/** The service of an environment, for as long as the test. */
const start = (env: string, more?: Partial<Options>, account?: Account) =>
  Effect.map(Layer.build(Coffer.layer(options(env, more, account))), Context.get(Coffer))

const promise = <A>(work: () => Promise<A>) => Effect.promise(work)
const environment = (env: string, values?: Readonly<Record<string, string>>) =>
  promise(() => place.environment(env, values))
const write = (env: string, body: object) => promise(() => place.write(env, body))

const plain = ({ values }: Snapshot) =>
  Object.fromEntries([...values].map(([key, value]) => [key, Redacted.value(value)]))

const until = <A, E, R>(effect: Effect.Effect<A, E, R>, is: (found: A) => boolean) =>
  effect.pipe(Effect.repeat({ until: is, schedule: Schedule.spaced("50 millis") }), Effect.timeout("60 seconds"))

/** Starts without the server. */
const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    promise(() => place.bridge.close()),
    () => effect,
    () => promise(() => place.bridge.open())
  )

const run = <E>(effect: Effect.Effect<unknown, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(effect))

const lines: Array<string> = []
const logger = Logger.layer([Logger.make(({ message }) => void lines.push([message].flat().map(String).join(" ")))])

describe("Coffer.layer on Effect 4", () => {
  it("reads the environment, and some keys alone", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app1", { A: "1", B: "two\n" })
        const coffer = yield* start("app1", { name: "shop 1.4.0", every: "1 hour" })
        const snapshot = yield* coffer.snapshot
        assert.deepStrictEqual(plain(snapshot), { A: "1", B: "two\n" })
        assert.strictEqual(snapshot.place, "acme/webshop/app1")
        assert.strictEqual(snapshot.revision, 1)
        assert.isBelow(Duration.toMillis(snapshot.age), 10_000)
        assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
        const rows = yield* promise(() => place.prints("audit", "list", "--action", "secret.read", "--json"))
        assert.include(rows, `"client": "app/shop 1.4.0"`)
        const some = yield* start("app1", { keys: ["A", "NONE"] })
        assert.deepStrictEqual(plain(yield* some.snapshot), { A: "1" })
        const missing = yield* Effect.flip(some.get("NONE"))
        assert.strictEqual(missing._tag, "MissingSecret")
        assert.strictEqual(missing.message, "NONE does not exist in acme/webshop/app1")
      })
    ))

  it("fails for a key alone whose reference is refused, which is not missing data", () =>
    run(
      Effect.gen(function* () {
        yield* environment("other1", { SOURCE: "1" })
        yield* environment("app3", { GOOD: "1", TABLE_A: "2" })
        yield* write("app3", { references: { BROKEN: "${other1:SOURCE}", TABLE_B: "${other1:SOURCE}" } })
        const coffer = yield* start("app3")
        assert.deepStrictEqual(plain(yield* coffer.snapshot), { GOOD: "1", TABLE_A: "2" })
        const refused = yield* Effect.flip(coffer.get("BROKEN"))
        assert.match(refused.message, /^BROKEN .*read.*other1.* \(acme\/webshop\/app3\)$/)
        const configs: ReadonlyArray<Config.Config<unknown>> = [Config.String("BROKEN"), Config.Redacted("BROKEN")]
        for (const config of configs) {
          const read = Coffer.withSecrets(Config.withDefault(config, "default"))
          const failed = yield* Effect.flip(Effect.provideService(read, Coffer, coffer))
          assert.include(failed.message, "BROKEN refers to")
        }
        const table = Coffer.withSecrets(Config.Record(Schema.String, Schema.String, "TABLE"))
        const incomplete = yield* Effect.flip(Effect.provideService(table, Coffer, coffer))
        assert.include(incomplete.message, "TABLE_B refers to")
      })
    ))

  const wrong: ReadonlyArray<readonly [string, Partial<Options>, string, RegExp]> = [
    [
      "a key that is none",
      { credential: { apiKey: Redacted.make("canary") } },
      "BadSetting",
      /^credential\.apiKey does not hold an API key/
    ],
    [
      "a key that the server does not know",
      { credential: { apiKey: Redacted.make(`svc_sa_${"a".repeat(49)}`) } },
      "Unauthorized",
      /^credential\.apiKey: http.* refuses the credential: it is unknown, expired or revoked$/
    ],
    ["a place of two names", { place: "acme/webshop" }, "BadSetting", /^place must be ORGANIZATION/],
    ["a place that does not exist", { place: "acme/nothing/prod" }, "NotFound", /^place: /],
    ["a place without a right to it", { place: "acme/webshop/other2" }, "Forbidden", /^place: .*read/],
    ["a place without secrets", { place: "acme/webshop/app-empty" }, "EmptyEnvironment", /holds no secrets$/],
    ["a server that is none", { server: "http://127.0.0.1:9" }, "ServerUnreachable", /check the option server$/],
    ["no time", { every: 0 }, "BadSetting", /^every must be a time/]
  ]

  it("says in one sentence which option is wrong", () =>
    run(
      Effect.gen(function* () {
        yield* environment("other2", { A: "1" })
        yield* environment("app-empty")
        for (const [what, more, tag, sentence] of wrong) {
          const error = yield* Effect.flip(start("app1", more))
          assert.strictEqual(error._tag, tag, what)
          assert.match(error.message, sentence, what)
          assert.notInclude(Cause.pretty(Cause.fail(error)), "canary")
        }
        const { credential: _, ...none } = options("app1")
        const error = yield* Effect.flip(Layer.build(Coffer.layer(none)))
        assert.match(error.message, /^no credential: set SERVICE_API_KEY/)
      })
    ))

  it("takes its options from configs", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app4", { A: "1" })
        const layer = Coffer.layerConfig({
          server: Config.String("COFFER_SERVER"),
          place: Config.succeed("acme/webshop/app4"),
          credential: Config.map(Config.Redacted("COFFER_KEY"), (apiKey) => ({ apiKey }))
        })
        const env = { COFFER_SERVER: place.bridge.url, COFFER_KEY: reader.apiKey }
        const provider = ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
        const value = yield* Effect.flatMap(Coffer, (coffer) => coffer.get("A")).pipe(
          Effect.provide(Layer.provide(layer, provider))
        )
        assert.strictEqual(Redacted.value(value), "1")
      })
    ))

  it("uses the encrypted copy for a start without the server", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app10", { COLOUR: "canary-red" })
        const offline = { folder: join(place.home.folder, "offline"), maxAge: "1 day" } as const
        yield* Effect.scoped(start("app10", { offline, every: "1 hour" }))
        lines.length = 0
        const copied = yield* away(start("app10", { offline })).pipe(Effect.provide(logger))
        assert.strictEqual(Redacted.value(yield* copied.get("COLOUR")), "canary-red")
        assert.isUndefined((yield* copied.snapshot).revision)
        yield* until(
          Effect.sync(() => lines.length),
          (count) => count > 0
        )
        assert.match(lines[0] ?? "", /; using the offline copy of acme\/webshop\/app10, /)
        assert.notInclude(lines.join(), "canary")
      })
    ))

  it("ends a connection that was not complete when the start was interrupted", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app11", { A: "1" })
        const starting = yield* Effect.forkChild(start("app11"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(starting)
        yield* Effect.sleep("600 millis")
        const rows = () => place.prints("audit", "list", "--env", "app11", "--action", "secret.read", "--json")
        const before = yield* promise(rows)
        yield* write("app11", { set: { A: "2" } })
        yield* Effect.sleep("600 millis")
        assert.strictEqual(yield* promise(rows), before)
      })
    ))
})

describe("coffer.call on Effect 4", () => {
  const path = { org_name: "acme", project_name: "webshop", env_name: "app20" }

  it("reads and writes, and fails with the errors of the contract by their tags", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app20", { A: "1" })
        const coffer = yield* start("app20")
        const { data } = yield* coffer.call("secrets", (api) => api.list({ path }))
        assert.deepStrictEqual(
          data.map(({ key }) => key),
          ["A"]
        )
        const absent = yield* coffer
          .call("secrets", (api) => api.get({ path: { ...path, key: "NONE" } }))
          .pipe(Effect.catchTag("NotFound", ({ status }) => Effect.succeed(status)))
        assert.strictEqual(absent, 404)
        const set = coffer.call("secrets", (api) =>
          api.set({ path: { ...path, key: "A" }, payload: { value: "canary" } })
        )
        const forbidden = yield* Effect.flip(set)
        assert.strictEqual(forbidden._tag, "Forbidden")
        assert.notInclude(Cause.pretty(Cause.fail(forbidden)), "canary")
        const wrong = yield* Effect.flip(coffer.call("secrets", (api) => api.get({ path: { ...path, key: ".." } })))
        assert.strictEqual(wrong._tag, "InvalidRequest")
        const lost = yield* away(Effect.flip(coffer.call("secrets", (api) => api.list({ path }))))
        assert.strictEqual(lost._tag, "ServerUnreachable")
      })
    ))
})

describe("a followed environment, on Effect 4", () => {
  it("emits what it is, then one change for many writes", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app5", { A: "0" })
        const coffer = yield* start("app5", { every: "1 second" })
        const seen: Array<string | undefined> = []
        yield* coffer.changes.pipe(
          Stream.runForEach((snapshot) => Effect.sync(() => seen.push(plain(snapshot)["A"]))),
          Effect.forkScoped
        )
        for (const A of ["1", "2", "3", "4", "5"]) {
          yield* write("app5", { set: { A } })
          yield* Effect.sleep("200 millis")
        }
        yield* until(
          Effect.sync(() => seen.at(-1)),
          (last) => last === "5"
        )
        assert.strictEqual(seen[0], "0")
        // On a slow machine, a write may take longer than a change takes to settle.
        assert.isAtMost(seen.length, 3)
        assert.strictEqual(Redacted.value(yield* coffer.get("A")), "5")
      })
    ))

  it("keeps its last values while the server is away, says so once, and follows again", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app7", { A: "1" })
        lines.length = 0
        const coffer = yield* Effect.provide(start("app7"), logger)
        yield* away(
          Effect.gen(function* () {
            yield* until(
              Effect.sync(() => lines.length),
              (count) => count === 1
            )
            const unreachable = yield* Effect.flip(coffer.refresh)
            assert.strictEqual(unreachable._tag, "ServerUnreachable")
            assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
            assert.isAbove(Duration.toMillis((yield* coffer.snapshot).age), 100)
          })
        )
        yield* write("app7", { set: { A: "2" } })
        yield* until(coffer.get("A"), (value) => Redacted.value(value) === "2")
        assert.lengthOf(lines, 1)
        assert.match(lines[0] ?? "", /^acme\/webshop\/app7 is not followed, and its last values stay: cannot reach/)
      })
    ))

  it("keeps its last values when the key is revoked, which refresh says", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app8", { A: "1" })
        const account = yield* promise(() => place.account("revoked"))
        const coffer = yield* start("app8", { every: "1 hour" }, account)
        yield* write("app8", { set: { A: "2" } })
        assert.deepStrictEqual(plain(yield* coffer.refresh), { A: "2" })
        yield* promise(() => place.ok("service-account", "revoke", account.id, "--yes"))
        const error = yield* Effect.flip(coffer.refresh)
        assert.strictEqual(error._tag, "Unauthorized")
        assert.strictEqual(Redacted.value(yield* coffer.get("A")), "2")
      })
    ))

  it("keeps a process alive that only follows, and lets it end with its layer", async () => {
    await place.environment("app12", { A: "1" })
    const { credential: _, ...more } = options("app12")
    const program = `
      import { Coffer } from "@coffer/client-effect4"
      import { Console, Effect, Redacted, Stream } from "effect"
      const shown = Effect.flatMap(Coffer, ({ changes }) =>
        Stream.runForEach(Stream.take(changes, 2), ({ values }) => Console.log(Redacted.value(values.get("A")))))
      await Effect.runPromise(Effect.provide(shown, Coffer.layer(${JSON.stringify(more)})))`
    const child = new ServerProcess([process.execPath, "--input-type=module", "--eval", program], {
      cwd: import.meta.dirname,
      env: { PATH: process.env["PATH"], SERVICE_API_KEY: reader.apiKey }
    })
    await child.out.said(/^1$/m)
    await place.write("app12", { set: { A: "2" } })
    await child.out.said(/^2$/m)
    assert.deepStrictEqual(await child.ended, { code: 0, signal: null })
  })

  it("ends with its scope", () =>
    run(
      Effect.gen(function* () {
        yield* environment("app9", { A: "1" })
        const scope = yield* Scope.make()
        const coffer = yield* Scope.provide(start("app9"), scope)
        yield* Scope.close(scope, Exit.void)
        const before = (yield* coffer.snapshot).age
        yield* Effect.sleep("600 millis")
        assert.isAbove(Duration.toMillis((yield* coffer.snapshot).age), Duration.toMillis(before) + 500)
      })
    ))
})
