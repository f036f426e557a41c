import { existsSync, readFileSync } from "node:fs"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"

/** Everything that SQLite keeps of a database, as bytes. */
export const filesOf = (path: string): Buffer =>
  Buffer.concat(
    ["", "-wal", "-shm", "-journal"]
      .map((suffix) => path + suffix)
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file))
  )

/** Returns the ciphertexts of some versions of secret A, and their data keys, as they are in the rows. */
export const sealedBytes = (versions: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<Record<"ciphertext" | "wrapped_key", Uint8Array>>`
      SELECT v.ciphertext, v.wrapped_key FROM secret_versions v
        JOIN secrets s ON s.id = v.secret_id WHERE s.key = 'A' AND ${sql.in("v.version", versions)}`
    assert.lengthOf(rows, versions.length)
    return rows.flatMap((row) => [row.ciphertext, row.wrapped_key])
  })

/** The pieces of 16 bytes, or all of it where it is shorter, that are somewhere in the files. */
export const piecesIn = (files: Buffer, sealed: ReadonlyArray<Uint8Array>) =>
  sealed.filter((bytes) =>
    Array.range(0, Math.max(0, Math.floor(bytes.length / 1_024))).some((at) =>
      files.includes(Buffer.from(bytes.subarray(at * 1_024, at * 1_024 + 16)))
    )
  ).length
