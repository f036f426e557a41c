import * as SqlClient from "@effect/sql/SqlClient"
import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"
import { earlierCopies, earlierCopy } from "./EarlierCopies.js"

const notKept = (reason: string) =>
  new StartupError({
    message: `the copy of the database before its migration cannot be kept (${reason}): nothing was changed`
  })

/** Flushes a file, or the names in a folder, to disk: `VACUUM INTO` does not, and a power loss would lose the copy. */
const flush = (path: string) => {
  const descriptor = openSync(path, "r")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/**
 * Copies the database to `{path}.before-NNNN` (0600) before a migration. The rename makes the copy complete or absent.
 * Copies of earlier migrations are removed afterwards.
 */
export const keepCopy = (path: string, migration: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const folder = dirname(path)
    const copy = earlierCopy(path, migration)
    const temporary = join(folder, `.${basename(copy)}.part`)
    const remove = Effect.sync(() => {
      rmSync(temporary, { force: true })
    })
    yield* remove
    yield* Effect.mapError(sql`VACUUM INTO ${temporary}`, ({ cause }: SqlError.SqlError) =>
      notKept(reasonOf(cause))
    ).pipe(
      Effect.zipRight(
        Effect.try({
          try: () => {
            chmodSync(temporary, 0o600)
            flush(temporary)
            renameSync(temporary, copy)
            flush(folder)
            for (const other of earlierCopies(path)) if (other !== copy) rmSync(other)
          },
          catch: (cause) => notKept(reasonOf(cause))
        })
      ),
      Effect.onError(() => remove)
    )
    yield* Effect.logInfo(`kept a copy of the database before migration ${migration}: ${copy}`)
  })
