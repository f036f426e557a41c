import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../base/Config.js"
import type { StartupError } from "../base/StartupError.js"
import type { Database } from "../database/Database.js"
// The page of metrics names those of PostgreSQL on either engine.
import "../database/DatabaseMetrics.js"
import type { Erasures } from "../database/Erasures.js"
import type { Snapshots } from "../database/Snapshots.js"
import { ErasuresLive } from "../database/sqlite/Erasure.js"
import { SqliteSnapshotsLive } from "../database/sqlite/SqliteSnapshots.js"
import { DatabaseLive } from "../database/sqlite/SqliteDatabase.js"

/** The database of the settings with its capabilities, on either engine. */
export const EngineLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ postgres }): Layer.Layer<Database | Erasures | Snapshots, StartupError, ServerConfig> =>
    postgres === null
      ? Layer.provideMerge(Layer.merge(ErasuresLive, SqliteSnapshotsLive), DatabaseLive)
      : // Loaded on demand: the driver costs memory and startup time.
        Layer.unwrapEffect(
          Effect.map(
            Effect.promise(() => import("./PostgresEngine.js")),
            ({ postgresEngine }) => postgresEngine(postgres)
          )
        )
  )
)
