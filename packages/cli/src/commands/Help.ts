import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Effect } from "effect"
import { printLine } from "../Output.js"
import { Version } from "../Version.js"

const command = Args.text({ name: "COMMAND" }).pipe(Args.withDescription("The command"), Args.repeated)

/** Listed for the help and the completions. `helpRequest` turns it into `--help` before the parser sees it. */
const help = Command.make("help", { command }, () => Effect.void).pipe(
  Command.withDescription("Show the help of a command. Example: coffer help secret set")
)

const version = Command.make("version", {}, () => Effect.flatMap(Version, printLine)).pipe(
  Command.withDescription("Show the version. Example: coffer version")
)

export const helpCommands = [help, version] as const
