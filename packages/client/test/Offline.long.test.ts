import { assert, describe, it } from "@effect/vitest"
import { Config, Context, Duration, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, beforeEach } from "vitest"
import { Coffer } from "../src/Coffer.js"
import { type Account, testPlace } from "./support/Place.js"

const place = testPlace()
let account: Account
let folder: string

beforeAll(async () => {
  account = await place.account("offline")
  await place.environment("app", { COLOUR: "canary-red" })
  folder = join(place.home.folder, ".local/state/coffer/offline")
})

const options = (more: Parameters<typeof place.options>[2] = {}, as = account) =>
  place.options("app", as, { offline: { folder, maxAge: "1 day" }, every: "1 hour", ...more })

const lines: Array<string> = []
beforeEach(() => {
  lines.length = 0
})
const logger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => void lines.push(String(message)))
)

/** Starts an application and ends it: what it did. */
const start = (more?: Parameters<typeof place.options>[2], as?: Account) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const coffer = Context.get(
      yield* Layer.buildWithScope(Layer.provide(Coffer.layer(options(more, as)), logger), scope),
      Coffer
    )
    const snapshot = yield* coffer.snapshot
    const colour = Redacted.value(yield* coffer.get("COLOUR"))
    yield* Scope.close(scope, Exit.void)
    return { ...snapshot, colour }
  })

const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))

const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => place.bridge.close()),
    () => effect,
    () => Effect.promise(() => place.bridge.open())
  )

describe("a start without the server", () => {
  it.live("uses the encrypted copy, says its age, and only with the same credential, keys and in time", () =>
    Effect.gen(function* () {
      const other = yield* Effect.promise(() => place.account("other"))
      yield* start()
      const [copy = ""] = files()
      assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
      assert.notInclude(readFileSync(copy, "utf8"), "canary")
      const before = readFileSync(copy, "utf8")
      yield* away(
        Effect.gen(function* () {
          const { age, colour, revision } = yield* start()
          assert.strictEqual(colour, "canary-red")
          assert.isUndefined(revision)
          assert.isBelow(Duration.toSeconds(age), 60)
          assert.match(lines[0] ?? "", /^cannot reach .*; using the offline copy of acme\/webshop\/app, [0-9]+ s old$/)
          const sentence = (effect: Effect.Effect<unknown, { readonly message: string }>) =>
            Effect.map(Effect.flip(effect), ({ message }) => message)
          const credential = yield* sentence(start({}, other))
          assert.match(credential, /and offline: the copy was made with another credential, or is damaged$/)
          assert.match(yield* sentence(start({ keys: ["COLOUR"] })), /and offline: there is no copy yet$/)
          yield* Effect.sleep("1100 millis")
          const old = { offline: { folder, maxAge: "1 second" } } as const
          assert.match(yield* sentence(start(old)), /and offline: the copy is .* old and may be 1 s old$/)
        })
      )
      // A start from the copy does not make it newer.
      assert.strictEqual(readFileSync(copy, "utf8"), before)
    })
  )

  it.live("uses the copy that coffer run keeps, and gives it its own", () =>
    Effect.gen(function* () {
      const shared = yield* Effect.promise(() => place.account("shared"))
      const env = { SERVICE_SERVER_URL: place.bridge.url, SERVICE_API_KEY: shared.apiKey, SERVICE_ENV: "app" }
      const run = Effect.promise(() =>
        place.home.coffer(["run", "--offline-fallback", "--", "printenv", "COLOUR"], { env })
      )
      assert.strictEqual((yield* run).stdout, "canary-red\n")
      assert.strictEqual((yield* away(start({}, shared))).colour, "canary-red")
      yield* start()
      yield* start({}, shared)
      assert.strictEqual((yield* away(run)).stdout, "canary-red\n")
    })
  )

  it.live("has no copy after the server has refused the credential", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.promise(() => place.account("gone"))
      yield* start({}, gone)
      assert.isNotEmpty(files())
      yield* Effect.promise(() => place.ok("service-account", "revoke", gone.id, "--yes"))
      const error = yield* Effect.flip(start({}, gone))
      assert.strictEqual(error._tag, "Unauthorized")
      assert.isFalse(existsSync(folder) && files().length > 0)
    })
  )

  it.live("still refuses the keys that the server refused, and a command that needs them", () =>
    Effect.gen(function* () {
      yield* Effect.promise(async () => {
        await place.environment("hidden", { SOURCE: "1" })
        await place.environment("partly", { COLOUR: "blue" })
        await place.write("partly", { references: { BROKEN: "${hidden:SOURCE}" } })
      })
      const partly = yield* Effect.promise(() => place.account("partly", "partly"))
      const layer = Coffer.layer(place.options("partly", partly, { offline: { folder, maxAge: "1 day" } }))
      const read = Coffer.withSecrets(
        Effect.zip(Config.string("COLOUR"), Effect.flip(Config.withDefault(Config.string("BROKEN"), "default")))
      ).pipe(Effect.provide(Layer.provide(layer, logger)))
      const online = yield* read
      assert.strictEqual(online[0], "blue")
      assert.include(String(online[1]), "BROKEN refers to")
      const env = { SERVICE_SERVER_URL: place.bridge.url, SERVICE_API_KEY: partly.apiKey, SERVICE_ENV: "partly" }
      const { code, stderr, stdout } = yield* away(
        Effect.gen(function* () {
          assert.deepStrictEqual(String(yield* read), String(online))
          return yield* Effect.promise(() => place.home.coffer(["run", "--offline-fallback", "--", "env"], { env }))
        })
      )
      assert.strictEqual(code, 125, stdout)
      assert.match(stderr, /; and offline: BROKEN refers to/)
    })
  )
})
