import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { command, json } from "../../grammar/Command.js"
import { argumentsOf } from "../../grammar/Fields.js"
import { doneView, printView } from "../../terminal/View.js"
import { Version } from "../../base/Version.js"

/** For the help and the completions. `locate` takes the word `help` off the command line. */
const help = command("help", {
  description: "Show the help of a command",
  examples: ["coffer help secret set"],
  options: { command: argumentsOf("COMMAND", Schema.String, { least: 0, most: 2 }, "The command") },
  run: () => Effect.void
})

const version = command("version", {
  description: "Show the version",
  examples: ["coffer version", "coffer version --json"],
  options: { json },
  run: ({ json }) => Effect.flatMap(Version, (version) => printView(doneView(version, { version }), json))
})

export const helpCommands = [help, version] as const
