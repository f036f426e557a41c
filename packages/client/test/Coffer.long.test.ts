import { assert, describe, it } from "@effect/vitest"
import {
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
  Scope,
  Stream,
  Tracer
} from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import { beforeAll } from "vitest"
import { Coffer } from "../src/Coffer.js"
import type { Snapshot } from "../src/Service.js"
import { listen } from "./internal/Support.js"
import { type Account, testPlace } from "./support/Place.js"

const place = testPlace()
let reader: Account

beforeAll(async () => {
  reader = await place.account("reader", "app*")
})

/** The service of an environment, for as long as the test. */
const start = (env: string, more?: Parameters<typeof place.options>[2], account = reader) =>
  Effect.map(Layer.build(Coffer.layer(place.options(env, account, more))), Context.get(Coffer))

const environment = (env: string, values?: Readonly<Record<string, string>>) =>
  Effect.promise(() => place.environment(env, values))
const write = (env: string, body: object) => Effect.promise(() => place.write(env, body))

const plain = ({ values }: Snapshot) =>
  Object.fromEntries([...values].map(([key, value]) => [key, Redacted.value(value)]))

/** Waits until an effect gives something, with real time. */
const until = <A, E, R>(effect: Effect.Effect<A, E, R>, is: (found: A) => boolean) =>
  effect.pipe(Effect.repeat({ until: is, schedule: Schedule.spaced("50 millis") }), Effect.timeout("60 seconds"))

describe("Coffer.layer", () => {
  it.scopedLive("reads the environment, and any call of the contract", () =>
    Effect.gen(function* () {
      yield* environment("app1", { A: "1", B: "two\n" })
      const coffer = yield* start("app1", { name: "shop 1.4.0" })
      const snapshot = yield* coffer.snapshot
      assert.deepStrictEqual(plain(snapshot), { A: "1", B: "two\n" })
      assert.strictEqual(snapshot.place, "acme/webshop/app1")
      assert.strictEqual(snapshot.revision, 1)
      assert.isBelow(Duration.toMillis(snapshot.age), 10_000)
      assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
      const { name } = yield* coffer.call("auth", (api) => api.me())
      assert.strictEqual(name, "reader")
      const rows = yield* Effect.promise(() => place.prints("audit", "list", "--action", "secret.read", "--json"))
      assert.include(rows, `"client": "app/shop 1.4.0"`)
    })
  )

  it.scopedLive("reads some keys, where one that does not exist is missing data when it is asked for", () =>
    Effect.gen(function* () {
      yield* environment("app2", { A: "1", B: "2" })
      const coffer = yield* start("app2", { keys: ["A", "NONE"] })
      assert.deepStrictEqual(plain(yield* coffer.snapshot), { A: "1" })
      const missing = yield* Effect.flip(coffer.get("NONE"))
      assert.strictEqual(missing.message, "NONE does not exist in acme/webshop/app2")
      assert.strictEqual(missing.key, "NONE")
    })
  )

  it.scopedLive("fails for a key alone whose reference is refused, which is not missing data", () =>
    Effect.gen(function* () {
      yield* environment("other1", { SOURCE: "1" })
      yield* environment("app3", { GOOD: "1", BROKEN_NOT: "2" })
      yield* write("app3", { references: { BROKEN: "${other1:SOURCE}", BROKEN_TOO: "${other1:SOURCE}" } })
      const coffer = yield* start("app3")
      assert.deepStrictEqual(plain(yield* coffer.snapshot), { GOOD: "1", BROKEN_NOT: "2" })
      const refused = yield* Effect.flip(coffer.get("BROKEN"))
      assert.match(refused.message, /^BROKEN .*read.*other1.* \(acme\/webshop\/app3\)$/)
      const configs: ReadonlyArray<Config.Config<unknown>> = [Config.string("BROKEN"), Config.redacted("BROKEN")]
      for (const config of configs) {
        const read = Coffer.withSecrets(Config.withDefault(config, "default"))
        const failed = yield* Effect.flip(Effect.provideService(read, Coffer, coffer))
        assert.include(String(failed), "BROKEN refers to")
      }
      // A table with the other keys alone would look whole.
      const table = Coffer.withSecrets(Config.hashMap(Config.string(), "BROKEN"))
      assert.include(String(yield* Effect.flip(Effect.provideService(table, Coffer, coffer))), "BROKEN_TOO refers to")
    })
  )

  it.scopedLive("takes its options from configs", () =>
    Effect.gen(function* () {
      yield* environment("app4", { A: "1" })
      const layer = Coffer.layerConfig({
        server: Config.string("COFFER_SERVER"),
        place: Config.succeed("acme/webshop/app4"),
        credential: Config.map(Config.redacted("COFFER_KEY"), (apiKey) => ({ apiKey }))
      })
      const env = Layer.setConfigProvider(
        ConfigProvider.fromMap(
          new Map([
            ["COFFER_SERVER", place.bridge.url],
            ["COFFER_KEY", reader.apiKey]
          ])
        )
      )
      const value = yield* Effect.flatMap(Coffer, (coffer) => coffer.get("A")).pipe(
        Effect.provide(Layer.provide(layer, env))
      )
      assert.strictEqual(Redacted.value(value), "1")
    })
  )
})

describe("a followed environment", () => {
  it.scopedLive("costs one request for all keys, then responses without a body, one at a time", () =>
    Effect.gen(function* () {
      yield* environment("app10", { A: "1", B: "2", C: "3" })
      const seen: Array<{ readonly url: string; readonly status: number }> = []
      let underway = 0
      let most = 0
      const pass = async (request: IncomingMessage, response: ServerResponse) => {
        most = Math.max(most, ++underway)
        const { "if-none-match": etag = "", "x-api-key": apiKey = "" } = request.headers
        const { url = "" } = request
        const headers = { "if-none-match": etag, "x-api-key": String(apiKey) }
        const answer = await fetch(`${place.server.url}${url}`, { headers })
        const body = await answer.text()
        await setTimeout(50)
        seen.push({ url, status: answer.status })
        underway--
        response.writeHead(answer.status, { etag: answer.headers.get("etag") ?? "" }).end(body)
      }
      const { url: server } = yield* listen((request, response) => void pass(request, response))
      const coffer = yield* start("app10", { server, keys: ["A", "B"], every: "100 millis" })
      yield* until(
        Effect.zipRight(
          coffer.refresh,
          Effect.sync(() => seen.length)
        ),
        (count) => count > 12
      )
      assert.deepStrictEqual(
        [...new Set(seen.map(({ url }) => url.replace(/^.*envs/, "")))],
        ["/app10/bundle?keys=A%2CB"]
      )
      assert.deepStrictEqual(
        seen.slice(0, 13).map(({ status }) => status),
        [200, ...Array.from({ length: 12 }, () => 304)]
      )
      assert.strictEqual(most, 1)
      assert.deepStrictEqual(plain(yield* coffer.snapshot), { A: "1", B: "2" })
    })
  )

  it.scopedLive("emits what it is, then one change for many writes", () =>
    Effect.gen(function* () {
      yield* environment("app5", { A: "0" })
      const coffer = yield* start("app5", { every: "1 second" })
      const seen: Array<string | undefined> = []
      yield* coffer.changes.pipe(
        Stream.runForEach((snapshot) => Effect.sync(() => seen.push(plain(snapshot)["A"]))),
        Effect.forkScoped
      )
      yield* until(
        Effect.sync(() => seen.length),
        (count) => count === 1
      )
      // For longer than three polls. Each write comes before the change has settled.
      for (const A of ["1", "2", "3", "4", "5", "6", "7", "8"]) {
        yield* write("app5", { set: { A } })
        yield* Effect.sleep("400 millis")
      }
      yield* until(
        Effect.sync(() => seen.at(-1)),
        (last) => last === "8"
      )
      // On a slow machine, a write may take longer than a change takes to settle.
      assert.isAtMost(seen.length, 3)
      yield* write("app5", { set: { A: "8" } })
      yield* Effect.sleep("1 second")
      assert.lengthOf(
        seen.filter((value) => value === "8"),
        1
      )
      assert.strictEqual(Redacted.value(yield* coffer.get("A")), "8")
    })
  )

  it.scopedLive("is read at once by refresh, with a span that names the place alone", () =>
    Effect.gen(function* () {
      yield* environment("app6", { A: "canary-1" })
      const coffer = yield* start("app6", { every: "1 hour" })
      yield* write("app6", { set: { A: "canary-2" } })
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
      const snapshot = yield* Effect.withTracer(coffer.refresh, tracer)
      assert.deepStrictEqual(plain(snapshot), { A: "canary-2" })
      assert.deepStrictEqual(
        spans.map(({ name }) => name),
        ["coffer.read"]
      )
      assert.notInclude(JSON.stringify(spans.map(({ attributes }) => [...attributes])), "canary")
      assert.strictEqual(spans[0]?.attributes.get("coffer.place"), "acme/webshop/app6")
    })
  )

  it.scopedLive("keeps its last values while the server is away, says so once, and follows again", () =>
    Effect.gen(function* () {
      yield* environment("app7", { A: "1" })
      const lines: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void lines.push(String(message)))
      )
      const coffer = yield* Effect.provide(start("app7"), logger)
      yield* Effect.promise(() => place.bridge.close())
      yield* until(
        Effect.sync(() => lines.length),
        (count) => count === 1
      )
      const unreachable = yield* Effect.flip(coffer.refresh)
      assert.strictEqual(unreachable._tag, "ServerUnreachable")
      assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
      assert.isAbove(Duration.toMillis((yield* coffer.snapshot).age), 100)
      yield* Effect.promise(() => place.bridge.open())
      yield* write("app7", { set: { A: "2" } })
      yield* until(coffer.get("A"), (value) => Redacted.value(value) === "2")
      yield* until(
        Effect.sync(() => lines.length),
        (count) => count === 2
      )
      assert.match(lines[0] ?? "", /^acme\/webshop\/app7 is not followed, and its last values stay: cannot reach/)
      assert.strictEqual(lines[1], "acme/webshop/app7 is followed again")
    })
  )

  it.scopedLive("keeps its last values when the key is revoked, which refresh says", () =>
    Effect.gen(function* () {
      yield* environment("app8", { A: "1" })
      const account = yield* Effect.promise(() => place.account("revoked"))
      const coffer = yield* start("app8", {}, account)
      yield* Effect.promise(() => place.ok("service-account", "revoke", account.id, "--yes"))
      const error = yield* Effect.flip(coffer.refresh)
      assert.strictEqual(error._tag, "Unauthorized")
      assert.match(error.message, /^credential\.apiKey: .* it is unknown, expired or revoked$/)
      assert.strictEqual(Redacted.value(yield* coffer.get("A")), "1")
    })
  )

  it.live("ends with its scope", () =>
    Effect.gen(function* () {
      yield* environment("app9", { A: "1" })
      const scope = yield* Scope.make()
      const coffer = yield* Scope.extend(start("app9"), scope)
      const waiting = yield* Effect.fork(Stream.runDrain(coffer.changes))
      yield* Scope.close(scope, Exit.void)
      const before = (yield* coffer.snapshot).age
      yield* Effect.sleep("1 second")
      const after = (yield* coffer.snapshot).age
      assert.isAbove(Duration.toMillis(after), Duration.toMillis(before) + 900)
      yield* Fiber.interrupt(waiting)
    })
  )
})
