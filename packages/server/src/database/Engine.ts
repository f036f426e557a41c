import { Effect, Layer } from "effect"
import { ServerConfig } from "../Config.js"
import type { StartupError } from "../StartupError.js"
import type { Database } from "./Database.js"
import type { Erasures } from "./Erasures.js"
import { postgresSnapshots } from "./copy/Snapshots.js"
import { PostgresErasuresLive } from "./postgres/Erasures.js"
import { postgresLive } from "./postgres/PostgresDatabase.js"
import type { Snapshots } from "./Snapshots.js"
import { ErasuresLive } from "./sqlite/Erasure.js"
import { SqliteSnapshotsLive } from "./sqlite/Snapshots.js"
import { DatabaseLive } from "./sqlite/SqliteDatabase.js"

/** The database of the settings with its capabilities, on either engine. */
export const EngineLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ postgres }): Layer.Layer<Database | Erasures | Snapshots, StartupError, ServerConfig> =>
    postgres === null
      ? Layer.provideMerge(Layer.merge(ErasuresLive, SqliteSnapshotsLive), DatabaseLive)
      : Layer.provideMerge(PostgresErasuresLive, postgresLive(postgres)).pipe(
          Layer.merge(postgresSnapshots(postgres.target))
        )
  )
)
