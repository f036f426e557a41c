import { Coffer } from "@coffer/client-effect4"
import { Config, Console, Context, Effect, Layer, Redacted } from "effect"

class Pool extends Context.Service<Pool, { readonly query: (sql: string) => string }>()("shop/Pool") {}

const PoolLive = Layer.effect(
  Pool,
  Effect.gen(function* () {
    const url = yield* Config.Redacted("DATABASE_URL")
    yield* Effect.acquireRelease(Console.log("the pool is open"), () => Console.log("the pool is closed"))
    return { query: (sql: string) => `${sql} by ${Redacted.value(url).length} characters` }
  })
)

export const PoolReloaded = Coffer.reload(Pool, PoolLive, ["DATABASE_URL"])

export const orders = Pool.pipe(
  Effect.map((pool) => pool.query("SELECT * FROM orders")),
  Coffer.using(Pool)
)
