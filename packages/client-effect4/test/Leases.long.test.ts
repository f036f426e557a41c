import { Config, Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import type { Pool } from "pg"
import { leaseEnds } from "../../client/test/support/Leases.js"
import { ask } from "../../client/test/support/Rotations.js"
import { Coffer } from "../src/index.js"

class Database extends Context.Service<Database, Pool>()("shop/LeasedDatabase") {}

leaseEnds("Effect 4", async ({ apiKey, openPool, place, server }) => {
  const DatabaseLive = Layer.effect(
    Database,
    Effect.gen(function* () {
      const user = yield* Config.String("DB_USER")
      const password = yield* Config.Redacted("DB_PASSWORD")
      return yield* Effect.acquireRelease(
        Effect.tryPromise(() => openPool(user, Redacted.value(password))),
        (pool) => Effect.promise(() => pool.end())
      )
    })
  )
  const layer = Coffer.leased(Database, DatabaseLive, { name: "DB", role: "app-role" }).pipe(
    Layer.provide(Coffer.layer({ server, place, credential: { apiKey: Redacted.make(apiKey) } }))
  )
  const runtime = ManagedRuntime.make(layer)
  await runtime.runPromise(Effect.void)
  const request = Coffer.using(Database)(Effect.flatMap(Database, (pool) => Effect.promise(() => ask(pool))))
  return { request: () => runtime.runPromise(request), close: () => runtime.dispose() }
})
