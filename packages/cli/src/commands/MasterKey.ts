import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Effect } from "effect"
import { CannotDo } from "../Failures.js"

const db = Options.text("db").pipe(Options.withDescription("The server's database file; stop the server first"))
const generate = Options.boolean("generate").pipe(Options.withDescription("Make the new key, and print it"))

/** The work is the server's, on its database: this client has no server beside it that can do it. */
const rotate = Command.make("rotate", { db, generate }, () =>
  Effect.fail(
    new CannotDo({
      message:
        "the master key is rotated offline, with the server stopped, and no server that can do it is installed beside this client: run it where the server is installed"
    })
  )
).pipe(
  Command.withDescription(
    "Encrypt every data key anew under a new master key, offline. Example: coffer master-key rotate --db service.db --generate"
  )
)

export const masterKeyCommand = Command.make("master-key").pipe(
  Command.withDescription("The key that protects everything on a server"),
  Command.withSubcommands([rotate])
)
