import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import { StartupError } from "../../base/StartupError.js"
import { migrate, schemaState } from "../../database/postgres/Migrations.js"
import { reach } from "../../database/postgres/Reach.js"

/**
 * `coffer-server migrate [--check]`: migrates the schema of PostgreSQL by the role of SERVICE_DATABASE_MIGRATE_URL, and grants
 * the server's role what it needs. With `--check` it changes nothing. Returns whether a migration is due after it.
 */
export const migrateCommand = (check: boolean) =>
  Effect.gen(function* () {
    const { postgres } = yield* ServerConfig
    if (postgres === null) {
      return yield* new StartupError({
        message: "migrate needs SERVICE_DATABASE_URL: the server migrates an SQLite file at its start"
      })
    }
    const at = yield* reach(postgres.migrateTarget ?? postgres.target)
    if (check) {
      const { found, isDue, newest } = yield* schemaState(at)
      yield* Console.log(
        isDue
          ? `a migration is due: the database ${at.name} has schema ${found}, and this program's is ${newest}`
          : `the database ${at.name} is current: schema ${found}`
      )
      return isDue
    }
    const { found, isDue, newest } = yield* migrate(at, { role: postgres.target.user, grants: true })
    yield* Console.log(
      isDue
        ? `migrated the database ${at.name} from schema ${found} to ${newest}`
        : `the database ${at.name} is current: schema ${found}`
    )
    return false
  })
