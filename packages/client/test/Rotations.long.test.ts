import { Config, Context, Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import type { Pool } from "pg"
import { Coffer } from "../src/Coffer.js"
import { ask, openPool, rotations } from "./support/Rotations.js"

class Database extends Context.Tag("@coffer/client/Rotations.long.test/Database")<Database, Pool>() {}

const DatabaseLive = Layer.scoped(
  Database,
  Effect.gen(function* () {
    const url = yield* Config.redacted("DATABASE_URL")
    return yield* Effect.acquireRelease(
      Effect.tryPromise(() => openPool(Redacted.value(url))),
      (pool) => Effect.promise(() => pool.end())
    )
  })
)

rotations("Effect 3", async ({ apiKey, place, server, warn }) => {
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel._tag === "Warning") warn([message].flat().map(String).join(" "))
  })
  const layer = Coffer.reload(Database, DatabaseLive, ["DATABASE_URL"]).pipe(
    Layer.provide(Coffer.layer({ server, place, credential: { apiKey: Redacted.make(apiKey) }, every: 200 })),
    Layer.provide(Logger.replace(Logger.defaultLogger, logger))
  )
  const runtime = ManagedRuntime.make(layer)
  await runtime.runtime()
  const request = Coffer.using(Database)(Effect.flatMap(Database, (pool) => Effect.promise(() => ask(pool))))
  return { request: () => runtime.runPromise(request), close: () => runtime.dispose() }
})
