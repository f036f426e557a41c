import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { lock } from "./Lock.js"

type Purpose = "backup" | "restore" | "apply" | "drill" | "copy"

const purposes: ReadonlyArray<Purpose> = ["backup", "restore", "apply", "drill", "copy"]

const stem = (dbPath: string, purpose: Purpose): string => `.${basename(dbPath)}.${purpose}-`

/** The random part of a temporary file's name. */
const suffix = /^[0-9a-f]+/

/** Lists the files of a database's folder with these prefixes. */
const filesWith = (dbPath: string, stems: ReadonlyArray<string>) =>
  Effect.map(
    Effect.tryPromise(() => readdir(dirname(dbPath))),
    (files) => files.filter((name) => stems.some((begin) => name.startsWith(begin)))
  )

const notRemoved = ({ error }: Cause.UnknownException) =>
  Effect.logWarning("a temporary file beside the database could not be removed", error)

/** Removes the files of a temporary one, which includes SQLite's own files beside a temporary database. */
const removeAll = (dbPath: string, stem: string) =>
  Effect.gen(function* () {
    for (const file of yield* filesWith(dbPath, [stem])) {
      yield* Effect.tryPromise(() => rm(join(dirname(dbPath), file), { force: true }))
    }
  }).pipe(Effect.catchAll(notRemoved))

/** Shows other processes that a temporary file is in use, until the scope ends or the process dies. */
const hold = (path: string) => lock(`${path}.use`)

/**
 * Returns the path of a new file beside the database. The scope removes the file unless it was renamed. The finalizer is added to
 * the scope itself: after one of `acquireRelease` that is not the first to run, the toolkit restores the fiber's references of
 * before, and an interruption that came meanwhile is lost.
 */
export const temporaryFile = (dbPath: string, purpose: Purpose): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const name = stem(dbPath, purpose) + randomBytes(8).toString("hex")
    const path = join(dirname(dbPath), name)
    yield* Scope.addFinalizer(scope, removeAll(dbPath, name))
    // A folder that takes no lock takes no file either: the caller fails with the reason.
    yield* Effect.ignore(hold(path))
    return path
  })

/** Removes temporary files of killed processes, and none that another process in the same folder uses. */
export const removeLeftovers = (dbPath: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const stems = purposes.map((purpose) => stem(dbPath, purpose))
    const names = (yield* filesWith(dbPath, stems)).flatMap((file) => {
      const begin = stems.find((one) => file.startsWith(one)) ?? ""
      const random = suffix.exec(file.slice(begin.length))?.[0]
      return random === undefined ? [] : [begin + random]
    })
    for (const name of new Set(names)) {
      yield* Effect.scoped(Effect.zipRight(hold(join(dirname(dbPath), name)), removeAll(dbPath, name))).pipe(
        Effect.catchAll(() => Effect.logDebug(`another process uses the temporary file ${name}`))
      )
    }
  }).pipe(Effect.catchAll(notRemoved))
