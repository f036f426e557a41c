import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import { getNames, getSubcommands } from "@effect/cli/CommandDescriptor"
import { toAnsiText } from "@effect/cli/HelpDoc"
import { isValidationError } from "@effect/cli/ValidationError"
import type { Teardown } from "@effect/platform/Runtime"
import { hasApiKey } from "@coffer/domain/client/Credentials"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { runMain } from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Exit, HashMap, HashSet, Layer, Option } from "effect"
import { aclCommand } from "./commands/AccessRules.js"
import { auditCommand } from "./commands/Audit.js"
import { authCommands } from "./commands/Auth.js"
import { backupCommand } from "./commands/Backups.js"
import type { Descriptor } from "./commands/CompletionPlaces.js"
import {
  complaint,
  helpRequest,
  hiddenOption,
  lacksCommand,
  missingCommand,
  namesOf,
  optionComplaint
} from "./commands/Complaint.js"
import { completionsCommand } from "./commands/Completions.js"
import { envCommand, environmentCommand } from "./commands/Environments.js"
import { helpCommands } from "./commands/Help.js"
import { tidyHelp } from "./commands/HelpText.js"
import { masterKeyCommand } from "./commands/MasterKey.js"
import { memberCommand } from "./commands/Members.js"
import { optionTable } from "./commands/OptionTable.js"
import { orgCommand } from "./commands/Organizations.js"
import { projectCommand } from "./commands/Projects.js"
import { runCommand } from "./commands/RunHelp.js"
import { secretCommand } from "./commands/Secrets.js"
import { serviceAccountCommand } from "./commands/ServiceAccounts.js"
import { sessionCommand } from "./commands/Sessions.js"
import { setupCommands } from "./commands/Setup.js"
import { userCommand } from "./commands/Users.js"
import { describe, exitCodes } from "./Failures.js"
import { colours, note, noteDefect, warnings } from "./Output.js"
import { markVerbatim } from "./Verbatim.js"
import { Version } from "./Version.js"

const commands = [
  ...authCommands,
  ...setupCommands,
  sessionCommand,
  orgCommand,
  memberCommand,
  projectCommand,
  environmentCommand,
  envCommand,
  secretCommand,
  runCommand,
  aclCommand,
  serviceAccountCommand,
  userCommand,
  auditCommand,
  backupCommand,
  masterKeyCommand
] as const

const described = Command.make("coffer").pipe(
  Command.withDescription("Keeps secrets, and gives them to the programs that need them")
)

const completionCommand = completionsCommand(commands.map((command) => command.descriptor))

const all = [...commands, completionCommand, ...helpCommands] as const

const coffer = described.pipe(Command.withSubcommands(all))

const names = namesOf(all.map((command) => command.descriptor))

/** The options of a command, by its names. */
const tableOf = ([first, second]: ReadonlyArray<string>) => {
  const command = all
    .map(({ descriptor }): Descriptor => descriptor)
    .find((one) => HashSet.has(getNames(one), first ?? ""))
  if (command === undefined) return undefined
  const subcommand = HashMap.get(getSubcommands(command), second ?? "")
  return optionTable(Option.getOrElse(subcommand, () => command))
}

const withoutColours = (text: unknown) => String(text).replace(/\x1b\[[0-9;]*m/g, "")

const withBoldTitles = (text: string) => text.replace(/^[A-Z]+$/gm, "\x1b[1m$&\x1b[0m")

/** The parser prints its help to the console, here in our form. It prints its errors too: `cli` does that. */
const withOurConsole = <A, E, R>(effect: Effect.Effect<A, E, R>, argv: ReadonlyArray<string>): Effect.Effect<A, E, R> =>
  Effect.flatMap(colours, (wanted) =>
    Console.consoleWith((console) =>
      Effect.withConsole(effect, {
        ...console,
        log: (text: unknown) => {
          const help = tidyHelp(withoutColours(text), argv)
          // Help that was not asked for goes to standard error: a script must not take it for output.
          if (lacksCommand(names, argv)) return Effect.zipRight(console.error(help), note(missingCommand(argv)))
          return console.log(wanted ? withBoldTitles(help) : help)
        },
        error: () => Effect.void
      })
    )
  )

/** The server does not say which credential it refused. */
const notTaken = hasApiKey.pipe(
  Effect.orElseSucceed(() => false),
  Effect.map((key) =>
    key
      ? "the server does not take your API key: it is mistyped, revoked, expired or another server's; check SERVICE_API_KEY"
      : "your session at the server has ended; run coffer login"
  )
)

const usageError = (sentence: string) => Effect.as(note(sentence), exitCodes.usage)

/** The command line as the parser takes it. */
const words = (argv: ReadonlyArray<string>) => {
  const table = tableOf(argv)
  return markVerbatim(argv, (word) => Option.isSome(Option.flatten(Option.fromNullable(table?.get(word)))))
}

/** Runs a command line that can be parsed. Returns the exit code. */
const parsed = (argv: ReadonlyArray<string>, version: string): Effect.Effect<number> =>
  Command.run(coffer, { name: "coffer", version, executable: "coffer" })(["node", "coffer", ...words(argv)]).pipe(
    Effect.as<number>(lacksCommand(names, argv) ? exitCodes.usage : exitCodes.done),
    Effect.catchAll((failure) => {
      if (isValidationError(failure))
        return usageError(complaint(names, tableOf, argv, withoutColours(toAnsiText(failure.error)).trim()))
      const { exitCode, sentence } = describe(failure)
      const message = failure._tag === "Unauthorized" ? notTaken : Effect.succeed(sentence)
      return Effect.as(Effect.flatMap(message, note), exitCode)
    }),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : Effect.as(noteDefect(cause), exitCodes.failed)
    ),
    (effect) => withOurConsole(effect, argv),
    Effect.provideService(Version, version),
    Effect.scoped,
    Effect.provide(
      Layer.mergeAll(NodeContext.layer, CliConfig.layer({ isCaseSensitive: true, showBuiltIns: false }), warnings)
    )
  )

/** Everything but `run`. Returns the exit code. */
const cli = (argv: ReadonlyArray<string>, version: string): Effect.Effect<number> => {
  const help = helpRequest(names, argv)
  if (help !== undefined) return parsed(help, version)
  const hidden = hiddenOption(argv)
  if (hidden !== undefined) return usageError(`unknown option ${hidden}; see coffer --help`)
  const problem = optionComplaint(names, tableOf, argv)
  return problem === undefined ? parsed(argv, version) : usageError(problem)
}

/** Ends the process with the code that `cli` returns; after ctrl-C, with 130, as a shell does. */
const teardown: Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : exitCodes.failed)
  onExit(Cause.isInterruptedOnly(exit.cause) ? 130 : exitCodes.failed)
}

/** Starts the client. */
export const start = (argv: ReadonlyArray<string>, version: string): void =>
  // The runtime's own logger would replace ours, and writes to standard output.
  runMain(cli(argv, version), { disableErrorReporting: true, disablePrettyLogger: true, teardown })
