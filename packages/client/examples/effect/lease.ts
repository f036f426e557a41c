import { Coffer } from "@coffer/client"
import { Config, Context, Effect, Layer, Redacted } from "effect"
import pg from "pg"

export class Pool extends Context.Tag("@coffer/client/lease/Pool")<Pool, pg.Pool>() {}

const PoolLive = Layer.scoped(
  Pool,
  Effect.gen(function* () {
    const url = yield* Config.redacted("DB_URL")
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new pg.Pool({ connectionString: Redacted.value(url) })),
      (open) => Effect.promise(() => open.end())
    )
    yield* Effect.tryPromise(() => pool.query("SELECT 1"))
    return pool
  })
)

export const PoolLeased = Coffer.leased(Pool, PoolLive, { name: "DB", role: "app-role" })

export const users = Pool.pipe(
  Effect.flatMap((pool) => Effect.promise(() => pool.query<{ name: string }>("SELECT current_user AS name"))),
  Coffer.using(Pool)
)
