import { constants } from "node:fs"
import { chmod, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { DirectorySettings } from "../../base/config/BackupSettings.js"
import { isOwn, modeOf, usableDirectory } from "../../base/files/Permission.js"
import { StartupError } from "../../base/StartupError.js"
import { type ObjectStore, StoreFailure, type StoredObject } from "./ObjectStore.js"

const pieceBytes = 256 * 1024
/** How much is written between two flushes. A single flush of a whole backup would delay commits of the database. */
const flushBytes = 4 * 1024 * 1024

const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : "UNKNOWN"

const isFull = (code: string): boolean => code === "ENOSPC" || code === "EDQUOT"

const failure = (doing: string) => (error: unknown) => {
  const code = codeOf(error)
  return new StoreFailure({
    store: "backup directory",
    doing,
    reason: isFull(code) ? `its disk is full (${code})` : code
  })
}

const call = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, StoreFailure> =>
  Effect.tryPromise({ try: work, catch: failure(doing) })

const opened = (doing: string, path: string, flags: number) =>
  Effect.acquireRelease(
    call(doing, () => open(path, flags | constants.O_NOFOLLOW, 0o600)),
    (file) => Effect.promise(() => file.close())
  )

/** Flushes a directory, so that a rename or removal in it survives a power loss. */
const flushed = (doing: string, path: string) =>
  Effect.scoped(
    Effect.flatMap(opened(doing, path, constants.O_RDONLY | constants.O_DIRECTORY), (directory) =>
      call(doing, () => directory.sync())
    )
  )

const refused = (path: string, reason: string) => new StartupError({ message: `BACKUP_DIR: ${path} ${reason}` })

/** Checks that the server can write to the directory, and that no other user can. */
const checkDirectory = (path: string) =>
  Effect.gen(function* () {
    const stats = yield* Effect.tryPromise({
      try: () => lstat(path),
      catch: (error) =>
        codeOf(error) === "ENOENT"
          ? refused(path, `does not exist: create it with install -d -m 700 -o USER ${path}`)
          : refused(path, `cannot be accessed (${codeOf(error)})`)
    })
    if (stats.isSymbolicLink()) return yield* refused(path, "is a symbolic link: name the directory itself")
    if (!stats.isDirectory()) return yield* refused(path, "is not a directory")
    if ((stats.mode & 0o022) !== 0) {
      const mode = modeOf(stats)
      if (!isOwn(stats)) return yield* refused(path, `can be written by others (mode ${mode}): run chmod 700 ${path}`)
      // A volume with `fsGroup` gives rights to the group at each start of a pod.
      yield* Effect.tryPromise({
        try: () => chmod(path, 0o700),
        catch: (error) =>
          refused(path, `can be written by others (mode ${mode}), and its mode cannot be changed (${codeOf(error)})`)
      })
      yield* Effect.logWarning(`BACKUP_DIR: others could write to ${path} (mode ${mode}): its mode is 700 now`)
    }
    yield* Either.mapLeft(usableDirectory(path), (reason) => refused(path, reason))
  })

/** The name of an instance's directory. Others, such as `lost+found`, are ignored. */
const instance = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The name of an incomplete backup. */
const partOf = (name: string): string => `.${name}.part`
const isPart = (name: string): boolean => /^\..*\.part$/.test(name)

/**
 * An object store in a directory. A backup is a file (0600) in the directory of its instance (0700), with the same name as in S3.
 * A file is renamed to its final name after it was flushed. Symbolic links are not followed.
 */
export const makeDirectoryStore = ({ path: root }: DirectorySettings): Effect.Effect<ObjectStore, StartupError> =>
  Effect.gen(function* () {
    yield* checkDirectory(root)

    const ensureFolder = (doing: string, folder: string) =>
      Effect.gen(function* () {
        const isNew = yield* call(doing, () => mkdir(folder, { mode: 0o700 })).pipe(
          Effect.as(true),
          Effect.catchIf(
            ({ reason }) => reason === "EEXIST",
            () => Effect.succeed(false)
          )
        )
        if (isNew) yield* flushed(doing, root)
        // Fails if it is a link or a file.
        else yield* Effect.scoped(opened(doing, folder, constants.O_RDONLY | constants.O_DIRECTORY))
      })

    const write = (doing: string, path: string, size: number, content: () => AsyncIterable<Uint8Array>) =>
      Effect.gen(function* () {
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
        const file = yield* opened(doing, path, flags)
        let written = 0
        let unflushed = 0
        yield* Stream.runForEach(Stream.fromAsyncIterable(content(), failure(doing)), (piece) =>
          call(doing, async () => {
            await file.writeFile(piece)
            written += piece.length
            unflushed += piece.length
            if (unflushed < flushBytes) return
            unflushed = 0
            await file.datasync()
          })
        )
        if (written !== size) {
          const reason = `it has ${written} bytes instead of ${size}`
          return yield* new StoreFailure({ store: "backup directory", doing, reason })
        }
        yield* call(doing, () => file.sync())
      }).pipe(Effect.scoped)

    const put: ObjectStore["put"] = (name, size, content) => {
      const doing = "take the backup"
      const target = join(root, name)
      const part = join(dirname(target), partOf(basename(target)))
      const undo = Effect.tryPromise(() => Promise.all([part, target].map((path) => rm(path, { force: true }))))
      return Effect.gen(function* () {
        yield* ensureFolder(doing, dirname(target))
        yield* write(doing, part, size, content).pipe(
          Effect.zipRight(call(doing, () => rename(part, target))),
          Effect.zipRight(flushed(doing, dirname(target))),
          Effect.onError(() =>
            Effect.catchAll(undo, () => Effect.logWarning(`an unfinished backup could not be removed: ${part}`))
          )
        )
      })
    }

    const filesOf = (doing: string, folder: string) =>
      Effect.flatMap(
        call(doing, () => readdir(join(root, folder), { withFileTypes: true })),
        (entries) =>
          Effect.forEach(
            entries.filter((entry) => entry.isFile() && !isPart(entry.name)),
            ({ name }) =>
              call(doing, () => lstat(join(root, folder, name))).pipe(
                Effect.map(({ size }) => Option.some<StoredObject>({ name: `${folder}/${name}`, size })),
                // It was removed after the listing.
                Effect.catchIf(
                  ({ reason }) => reason === "ENOENT",
                  () => Effect.succeedNone
                )
              ),
            { concurrency: 8 }
          ).pipe(Effect.map(Array.getSomes))
      )

    const list: ObjectStore["list"] = Effect.gen(function* () {
      const doing = "list its files"
      const entries = yield* call(doing, () => readdir(root, { withFileTypes: true }))
      const folders = entries.filter((entry) => entry.isDirectory() && instance.test(entry.name))
      return Array.flatten(yield* Effect.forEach(folders, ({ name }) => filesOf(doing, name)))
    })

    const read: ObjectStore["read"] = (name) => {
      const doing = "give the backup"
      return Stream.unwrapScoped(
        Effect.map(opened(doing, join(root, name), constants.O_RDONLY), (file) =>
          Stream.repeatEffectOption(
            call(doing, () => file.read({ buffer: Buffer.allocUnsafe(pieceBytes) })).pipe(
              Effect.mapError(Option.some),
              Effect.flatMap(({ buffer, bytesRead }) =>
                bytesRead === 0 ? Effect.fail(Option.none()) : Effect.succeed(buffer.subarray(0, bytesRead))
              )
            )
          )
        )
      )
    }

    const remove: ObjectStore["remove"] = (name) => {
      const doing = "delete a file"
      const path = join(root, name)
      return Effect.zipRight(
        call(doing, () => rm(path, { force: true })),
        flushed(doing, dirname(path))
      )
    }

    const abandonUploads: ObjectStore["abandonUploads"] = (path) =>
      Effect.gen(function* () {
        const doing = "remove its unfinished files"
        const names = yield* call(doing, () => readdir(join(root, path)))
        for (const name of names.filter(isPart)) yield* call(doing, () => rm(join(root, path, name), { force: true }))
      })

    return { put, list, read, remove, abandonUploads }
  })
