import * as Effect from "effect/Effect"
import type { PostgresSettings } from "../../base/config/DatabaseSettings.js"
import { targetName } from "../../base/config/DatabaseUrl.js"
import { copyTables } from "../../database/copy/CopyTables.js"
import { postgresDestination } from "../copy/Destination.js"
import { silent } from "../../database/copy/Progress.js"
import { sqliteSource } from "../../database/copy/SqliteSides.js"
import { verifyCopy } from "../copy/Verify.js"
import { Keyring, KeyringLive } from "../../keys/Keyring.js"
import { StartupError } from "../../base/StartupError.js"

/** Copies a file into the empty PostgreSQL database of the settings, as the role that migrates it, and verifies the copy. */
export const fillEmpty = (file: string, { migrateTarget, target }: PostgresSettings) =>
  Effect.gen(function* () {
    const keyring = yield* Keyring
    const destination = yield* postgresDestination(migrateTarget ?? target, target.user)
    yield* destination.check
    const source = yield* sqliteSource(file)
    yield* destination.write({
      fill: (into) => copyTables(source, into, silent),
      finish: Effect.provideService(verifyCopy, Keyring, keyring)
    })
  }).pipe(
    Effect.catchTag(
      "CopyFailed",
      ({ reason }) =>
        new StartupError({
          message: `the restore failed (${reason}): the database ${targetName(target)} is as it was before`
        })
    ),
    Effect.scoped,
    Effect.provide(KeyringLive)
  )
