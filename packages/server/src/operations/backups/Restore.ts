import type { KeyObject } from "node:crypto"
import { rename, stat, type FileHandle } from "node:fs/promises"
import { dirname } from "node:path"
import { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Mark } from "../../database/Snapshots.js"
import { now } from "../../base/Time.js"
import { flushToDisk, local, opened } from "../../base/files/LocalFiles.js"
import { temporaryFile } from "../../database/sqlite/TemporaryFiles.js"
import { runThread } from "../../base/files/Thread.js"
import { BackupOpener } from "./BackupFile.js"
import type { StoreFailure } from "./ObjectStore.js"

const decrypt = (key: KeyObject, content: Stream.Stream<Uint8Array, StoreFailure>, size: number, file: FileHandle) =>
  Effect.gen(function* () {
    const opener = new BackupOpener(key)
    let received = 0
    yield* Stream.runForEach(content, (piece) =>
      Effect.gen(function* () {
        received += piece.length
        if (received > size) return yield* new DecryptionFailed({ message: "the backup is longer than its store says" })
        const plain = yield* opener.push(piece)
        yield* local(() => file.writeFile(plain))
      })
    )
    yield* opener.end()
  })

const otherBackup = new DecryptionFailed({
  message: "what is in the object is not the backup that its name says: objects were renamed or swapped"
})

export interface RestoreRequest {
  readonly dbPath: string
  readonly key: KeyObject
  readonly mark: Mark
  readonly created_at: string
  /** The size of the backup file in bytes. */
  readonly size: number
  readonly content: Stream.Stream<Uint8Array, StoreFailure>
}

/** Turns a snapshot into a standalone database, in a thread. Returns the heads of its audit logs, as lines of JSON. */
const settle = (path: string, { created_at, mark: { id, name } }: RestoreRequest) =>
  Effect.gen(function* () {
    const posted = yield* runThread("settle", [], { path, id, name, created_at, restored_at: yield* now })
    if (posted === null) return yield* otherBackup
    const lines = yield* Effect.orDie(Schema.decodeUnknown(Schema.String)(posted))
    return lines === "" ? [] : lines.split("\n")
  })

const fetchInto = (path: string, request: RestoreRequest) =>
  Effect.gen(function* () {
    const { content, key, size } = request
    yield* Effect.scoped(Effect.flatMap(opened(path, "wx"), (file) => decrypt(key, content, size, file)))
    return yield* settle(path, request)
  })

/**
 * Decrypts a backup into `{dbPath}.restore.{id}` (0600), which exists only if it is complete and verified. Returns its path, its
 * size in bytes, and the heads of its audit logs. Fails with `DecryptionFailed` if the backup was edited, truncated or swapped.
 */
export const restoreBeside = (request: RestoreRequest) =>
  Effect.gen(function* () {
    const { dbPath, mark } = request
    const target = `${dbPath}.restore.${mark.id}`
    const path = yield* temporaryFile(dbPath, "restore")
    const heads = yield* fetchInto(path, request)
    yield* flushToDisk(path)
    yield* local(() => rename(path, target))
    yield* flushToDisk(dirname(path))
    const { size: size_bytes } = yield* local(() => stat(target))
    return { path: target, size_bytes, heads }
  }).pipe(Effect.scoped)

/** Decrypts a backup into a scratch file beside the database, which the scope removes. Returns its path. */
export const restoreScratch = (request: RestoreRequest) =>
  Effect.gen(function* () {
    const path = yield* temporaryFile(request.dbPath, "drill")
    yield* fetchInto(path, request)
    return path
  })
