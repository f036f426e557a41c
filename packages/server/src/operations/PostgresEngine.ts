import * as Layer from "effect/Layer"
import type { PostgresSettings } from "../base/config/DatabaseSettings.js"
import { postgresSnapshots } from "../database/copy/PostgresSnapshots.js"
import { PostgresErasuresLive } from "../database/postgres/PostgresErasures.js"
import { postgresLive } from "../database/postgres/PostgresDatabase.js"

/** PostgreSQL with its capabilities. */
export const postgresEngine = (settings: PostgresSettings) =>
  Layer.provideMerge(PostgresErasuresLive, postgresLive(settings)).pipe(Layer.merge(postgresSnapshots(settings.target)))
