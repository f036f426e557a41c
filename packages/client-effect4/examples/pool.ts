import { Coffer } from "@coffer/client-effect4"
import { Config, Context, Effect, Layer, LayerRef, Redacted, Stream } from "effect"

class Pool extends Context.Service<Pool, { readonly query: (sql: string) => string }>()("shop/Pool") {}

const PoolLive = Layer.effect(
  Pool,
  Effect.gen(function* () {
    const url = yield* Coffer.withSecrets(Config.Redacted("DATABASE_URL"))
    return { query: (sql: string) => `${sql} by ${Redacted.value(url).length} characters` }
  })
)

class CurrentPool extends LayerRef.Service<CurrentPool>()("shop/CurrentPool", { layer: PoolLive }) {}

/** The next use of the pool builds it again after a change of its address. */
const renewal = Effect.gen(function* () {
  const coffer = yield* Coffer
  yield* coffer.changes.pipe(
    Stream.map(({ values }) => values.get("DATABASE_URL")),
    Stream.changes,
    Stream.drop(1),
    Stream.runForEach(() => CurrentPool.invalidate),
    Effect.forkScoped
  )
})

export const PoolRenewed = Layer.provideMerge(Layer.effectDiscard(renewal), CurrentPool.layer)

export const orders = Effect.provide(
  Effect.map(Pool, (pool) => pool.query("SELECT * FROM orders")),
  CurrentPool.get
)
