import { Coffer } from "@coffer/client"
import { Config, Console, Context, Effect, Layer, Redacted } from "effect"

class Pool extends Context.Tag("@coffer/client/reload/Pool")<
  Pool,
  { readonly query: (sql: string) => Effect.Effect<string> }
>() {}

const PoolLive = Layer.scoped(
  Pool,
  Effect.gen(function* () {
    const url = yield* Config.redacted("DATABASE_URL")
    yield* Effect.acquireRelease(Console.log("the pool is open"), () => Console.log("the pool is closed"))
    return { query: (sql) => Effect.succeed(`${sql} by ${Redacted.value(url).length} characters`) }
  })
)

export const PoolReloaded = Coffer.reload(Pool, PoolLive, ["DATABASE_URL"])

export const orders = Pool.pipe(
  Effect.flatMap((pool) => pool.query("SELECT * FROM orders")),
  Coffer.using(Pool)
)
