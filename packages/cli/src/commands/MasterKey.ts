import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Effect, Redacted } from "effect"
import { CannotDo } from "../Failures.js"
import { note } from "../Output.js"
import { newMasterKey, oldMasterKey } from "./MasterKeys.js"
import { showKey } from "./MasterKeyOutput.js"
import { withProgress } from "./Progress.js"

const db = Options.text("db").pipe(Options.withDescription("The server's database file; stop the server first"))
const generate = Options.boolean("generate").pipe(Options.withDescription("Make the new key, and print it"))

/** The work is the server's, on its database. It is loaded where it is installed, and by this command alone. */
const server = Effect.tryPromise({
  try: () => import("@coffer/server/rotation"),
  catch: () =>
    new CannotDo({
      message:
        "the master key is rotated offline, with the server stopped, and no server that can do it is installed beside this client: run it where the server is installed"
    })
})

const rotate = Command.make("rotate", { db, generate }, (options) =>
  Effect.gen(function* () {
    // SQLite makes some of its files with default modes: nothing that is made here is for others.
    yield* Effect.sync(() => process.umask(0o077))
    const { rotate } = yield* server
    const oldKey = yield* oldMasterKey
    const newKey = yield* newMasterKey(options.generate)
    const rotated = yield* withProgress((progress) =>
      rotate({
        dbPath: options.db,
        oldKey,
        newKey,
        publish: (key) => Effect.zipRight(progress.clear, showKey(Redacted.value(key))),
        progress: (done, total) => progress.step(done / total, "encrypting data keys anew")
      })
    ).pipe(Effect.catchTag("StartupError", ({ message }) => new CannotDo({ message })))

    yield* note(
      `the new master key is in force (fingerprint ${rotated.newFingerprint}), and ${rotated.versions} data keys are under it: set SERVICE_MASTER_KEY to it, then start the server`
    )
    yield* note(
      `backups made until now (fingerprint ${rotated.oldFingerprint} in coffer backup list) stay under the old key: keep that key as long as you keep them`
    )
    for (const path of rotated.underOldKey) yield* note(`${path} is under the old key too: remove it when all is well`)
    if (!rotated.isRewritten) {
      yield* note(
        "the file could not be written anew, so data keys under the old key may be left in gaps of it: see that the disk has room for a second copy, and rotate once more"
      )
    }
  })
).pipe(
  Command.withDescription(
    "Encrypt every data key anew under a new master key, offline. The old key is SERVICE_MASTER_KEY; the new one is SERVICE_NEW_MASTER_KEY, else what comes on standard input. Example: coffer master-key rotate --db service.db --generate"
  )
)

export const masterKeyCommand = Command.make("master-key").pipe(
  Command.withDescription("The key that protects everything on a server"),
  Command.withSubcommands([rotate])
)
