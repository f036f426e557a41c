import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { chmodSync, readdirSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { StartupError } from "../StartupError.js"

/**
 * Keeps a copy of the database beside it before a migration: `{path}.before-NNNN` (0600), whole or absent. Earlier copies are
 * removed once it is there.
 */
export const keepCopy = (path: string, migration: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const folder = dirname(path)
    const name = `${basename(path)}.before-${String(migration).padStart(4, "0")}`
    const temporary = join(folder, `.${name}.part`)
    yield* Effect.sync(() => {
      rmSync(temporary, { force: true })
    })
    yield* sql`VACUUM INTO ${temporary}`
    yield* Effect.try({
      try: () => {
        chmodSync(temporary, 0o600)
        renameSync(temporary, join(folder, name))
        for (const other of readdirSync(folder)) {
          if (other.startsWith(`${basename(path)}.before-`) && other !== name) rmSync(join(folder, other))
        }
      },
      catch: (cause) =>
        new StartupError({
          message: `the copy of the database before its migration cannot be kept: ${cause instanceof Error ? cause.message : "unknown reason"}`
        })
    })
    yield* Effect.logInfo(`kept a copy of the database before migration ${migration}: ${join(folder, name)}`)
  })
