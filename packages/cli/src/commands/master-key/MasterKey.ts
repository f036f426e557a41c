import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { CannotDo } from "../../base/Failures.js"
import { command, group } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"
import { withProgress } from "../../terminal/Progress.js"
import { databaseOf } from "./DatabaseName.js"
import { keyInFile, newMasterKey, oldMasterKey } from "./MasterKeys.js"
import { removeKeyFile, showKey, writeKeyFile } from "./MasterKeyOutput.js"

/** The work is the server's, on its database. It is loaded where it is installed, and by this command alone. */
const server = Effect.tryPromise({
  try: () => import("@coffer/server/rotation"),
  catch: () =>
    new CannotDo({
      message:
        "the master key is rotated offline, with the server stopped, and no server that can do it is installed beside this client: run it where the server is installed"
    })
})

type Rotation = Effect.Effect.Success<typeof server>

const stopped = ({ message }: { readonly message: string }) => new CannotDo({ message })

/**
 * Whether the key in FILE is in force already while the configured one is not: a rotation was interrupted before its key
 * was installed, and is done. Every other file is refused, because it may be the only copy of a key.
 */
const isFinished = (rotation: Rotation, file: string, db: string, oldKey: Redacted.Redacted) =>
  Effect.gen(function* () {
    if (!existsSync(file)) return false
    const key = keyInFile(file)
    if (Option.isNone(key)) {
      return yield* new CannotDo({ message: `${file} already exists: name a new file. Nothing was changed` })
    }
    if (yield* rotation.opensDatabase(db, oldKey)) {
      return yield* new CannotDo({
        message: (yield* rotation.opensDatabase(db, key.value))
          ? `${file} already exists, and holds the key that is in force: move it to where you keep keys. Nothing was changed`
          : `${file} already exists, and the key in it is not in force: remove it, or name a new file. Nothing was changed`
      })
    }
    return yield* rotation.opensDatabase(db, key.value)
  })

/** After a failure: removes the new key's file when the database is under the old key, else keeps it and says so. */
const withdraw = (rotation: Rotation, file: string, db: string, oldKey: Redacted.Redacted) =>
  rotation.opensDatabase(db, oldKey).pipe(
    Effect.flatMap((isOld) =>
      isOld
        ? Effect.zipRight(removeKeyFile(file), note(`${file} is removed again: the key in it never was in force`))
        : note(`the new key is in force: it is in ${file}`)
    ),
    Effect.catchAll(({ message }) =>
      note(
        `${message}; the key in ${file} may be in force or not: keep it and the old one, and try both with coffer-server check`
      )
    )
  )

interface RotateOptions {
  readonly db: string | undefined
  readonly generate: boolean
  readonly out: string | undefined
}

const rotateKey = (options: RotateOptions) =>
  Effect.gen(function* () {
    const rotation = yield* server
    const oldKey = yield* oldMasterKey(rotation.keyFromCommand)
    const db = yield* databaseOf(options.db)
    const file = options.out ?? null
    if (file !== null && (yield* Effect.catchTag(isFinished(rotation, file, db, oldKey), "StartupError", stopped))) {
      return yield* note(
        `the key in ${file} is in force already, by a rotation that was interrupted afterwards: set SERVICE_MASTER_KEY to it, then start the server`
      )
    }
    const newKey = yield* newMasterKey(options.generate, file !== null, rotation.keyFromCommand)
    const output = yield* Output
    let isPublished = false
    const publish = (key: string) =>
      file === null
        ? Effect.provideService(showKey(key), Output, output)
        : Effect.zipLeft(
            writeKeyFile(file, key),
            Effect.sync(() => {
              isPublished = true
            })
          )
    const rotated = yield* withProgress((progress) =>
      rotation.rotate({
        db,
        oldKey,
        newKey,
        publish: (key) => Effect.zipRight(progress.clear, publish(Redacted.value(key))),
        progress: (done, total) => progress.step(done / total, "re-encrypting data keys")
      })
    ).pipe(
      Effect.onError(() => (file === null || !isPublished ? Effect.void : withdraw(rotation, file, db, oldKey))),
      Effect.catchTag("StartupError", stopped)
    )

    const where = file === null ? "" : ` and in ${file}`
    yield* note(
      `the new master key is in force (fingerprint ${rotated.newFingerprint})${where}, and ${rotated.versions} data keys are under it: set SERVICE_MASTER_KEY to it, then start the server`
    )
    yield* note(
      `backups made until now (fingerprint ${rotated.oldFingerprint} in coffer backup list) stay under the old key: keep that key as long as you keep them`
    )
    for (const path of rotated.underOldKey) yield* note(`${path} is under the old key too: remove it when all is well`)
    if (rotated.inGaps !== null) yield* note(rotated.inGaps)
  })

/**
 * Files that the effect makes are accessible to their owner only: SQLite makes some with default modes. The umask is that of
 * the whole process.
 */
const withPrivateUmask = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => process.umask(0o077)),
    () => effect,
    (umask) => Effect.sync(() => process.umask(umask))
  )

const rotate = command("rotate", {
  description:
    "Re-encrypt every data key with a new master key, offline. The old key is SERVICE_MASTER_KEY; the new one is SERVICE_NEW_MASTER_KEY, else what comes on standard input. It is printed, or written to a new file with --out, before anything is committed",
  examples: ["coffer master-key rotate --db service.db --generate --out new.key"],
  options: {
    db: option(
      "db",
      Schema.String,
      "The server's database: a file, postgres://…, or env:NAME for a variable that holds the URL; by default SERVICE_DATABASE_URL. Stop all servers first"
    ),
    generate: flag("generate", "Make the new key"),
    out: option("out", Schema.String, "Write the new key to this new file (0600) and not to standard output")
  },
  run: (options) => withPrivateUmask(rotateKey(options))
})

export const masterKeyCommand = group("master-key", "The key that protects everything on a server", [rotate])
