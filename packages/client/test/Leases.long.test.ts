import { Config, Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import type { Pool } from "pg"
import { connect } from "../src/promise.js"
import { Coffer } from "../src/Coffer.js"
import { leaseEnds } from "./support/Leases.js"
import { ask } from "./support/Rotations.js"

class Database extends Context.Tag("@coffer/client/Leases.long.test/Database")<Database, Pool>() {}

leaseEnds("Effect 3", async ({ apiKey, openPool, place, server }) => {
  const DatabaseLive = Layer.scoped(
    Database,
    Effect.gen(function* () {
      const user = yield* Config.string("DB_USER")
      const password = yield* Config.redacted("DB_PASSWORD")
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
  await runtime.runtime()
  const request = Coffer.using(Database)(Effect.flatMap(Database, (pool) => Effect.promise(() => ask(pool))))
  return { request: () => runtime.runPromise(request), close: () => runtime.dispose() }
})

leaseEnds("promises", async ({ apiKey, openPool, place, server }) => {
  const coffer = await connect({ server, place, credential: { apiKey } })
  const lease = await coffer.lease("app-role")
  const pool = await lease.reload(
    ({ password, username }) => openPool(username, password),
    (open) => open.end()
  )
  return { request: () => pool.use(ask), close: coffer.close }
})
