import { Config, Context, Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import type { Pool } from "pg"
import { ask, openPool, rotations } from "../../client/test/support/Rotations.js"
import { Coffer } from "../src/index.js"

class Database extends Context.Service<Database, Pool>()("shop/Database") {}

const DatabaseLive = Layer.effect(
  Database,
  Effect.gen(function* () {
    const url = yield* Config.Redacted("DATABASE_URL")
    return yield* Effect.acquireRelease(
      Effect.tryPromise(() => openPool(Redacted.value(url))),
      (pool) => Effect.promise(() => pool.end())
    )
  })
)

rotations("Effect 4", async ({ apiKey, place, server, warn }) => {
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") warn([message].flat().map(String).join(" "))
  })
  const layer = Coffer.reload(Database, DatabaseLive, ["DATABASE_URL"]).pipe(
    Layer.provide(Coffer.layer({ server, place, credential: { apiKey: Redacted.make(apiKey) }, every: 200 })),
    Layer.provide(Logger.layer([logger]))
  )
  const runtime = ManagedRuntime.make(layer)
  await runtime.runPromise(Effect.void)
  const request = Coffer.using(Database)(Effect.flatMap(Database, (pool) => Effect.promise(() => ask(pool))))
  return { request: () => runtime.runPromise(request), close: () => runtime.dispose() }
})
