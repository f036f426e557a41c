import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import { isValidationError } from "@effect/cli/ValidationError"
import type { Teardown } from "@effect/platform/Runtime"
import { hasApiKey } from "@coffer/domain/client/Credentials"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { runMain } from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Exit, Layer } from "effect"
import { aclCommand } from "./commands/AccessRules.js"
import { auditCommand } from "./commands/Audit.js"
import { authCommands } from "./commands/Auth.js"
import { backupCommand } from "./commands/Backups.js"
import { placesOf } from "./commands/CompletionPlaces.js"
import { complaint, hiddenOption, lacksCommand, missingCommand, namesOf } from "./commands/Complaint.js"
import { completionsCommand } from "./commands/Completions.js"
import { envCommand, environmentCommand } from "./commands/Environments.js"
import { tidyHelp } from "./commands/HelpText.js"
import { masterKeyCommand } from "./commands/MasterKey.js"
import { memberCommand } from "./commands/Members.js"
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

const all = [...commands, completionCommand] as const

const coffer = described.pipe(Command.withSubcommands(all))

const names = namesOf(all.map((command) => command.descriptor))

/** Made when something is wrong with a command line: every command's help is read for it. */
const optionsOf = ([first, second]: ReadonlyArray<string>): ReadonlyArray<string> =>
  placesOf(all.map((command) => command.descriptor))
    .filter((place) => place.first === first && place.second === second)
    .flatMap(({ options }) => options.map(({ word }) => word))

const withoutColours = (text: unknown) => String(text).replace(/\x1b\[[0-9;]*m/g, "")

const withBoldTitles = (text: string) => text.replace(/^[A-Z]+$/gm, "\x1b[1m$&\x1b[0m")

/** The parser writes to the console: its help as people read it, and its complaints as ours. */
const withOurConsole = <A, E, R>(effect: Effect.Effect<A, E, R>, argv: ReadonlyArray<string>): Effect.Effect<A, E, R> =>
  Effect.flatMap(colours, (wanted) =>
    Console.consoleWith((console) =>
      Effect.withConsole(effect, {
        ...console,
        log: (text: unknown) => {
          const help = tidyHelp(withoutColours(text), argv)
          // Nobody asked for it: a script must not take it for the output.
          if (lacksCommand(names, argv)) return Effect.zipRight(console.error(help), note(missingCommand(argv)))
          return console.log(wanted ? withBoldTitles(help) : help)
        },
        error: (text: unknown) => note(complaint(names, optionsOf, argv, withoutColours(text).trim()))
      })
    )
  )

/** The service does not say which credential it was that it did not take. */
const notTaken = hasApiKey.pipe(
  Effect.orElseSucceed(() => false),
  Effect.map((key) =>
    key
      ? "the server does not take your API key: it is mistyped, revoked, expired or another server's; check SERVICE_API_KEY"
      : "your session at the server has ended; run coffer login"
  )
)

/** The whole client but for `run`: answers the exit code. */
const cli = (argv: ReadonlyArray<string>, version: string): Effect.Effect<number> => {
  const hidden = hiddenOption(argv)
  if (hidden !== undefined)
    return Effect.as(note(`${hidden} has no place here; coffer --help shows what there is`), exitCodes.usage)
  const words = markVerbatim(argv)
  return Command.run(coffer, { name: "coffer", version, executable: "coffer" })(["node", "coffer", ...words]).pipe(
    Effect.as<number>(lacksCommand(names, argv) ? exitCodes.usage : exitCodes.done),
    Effect.catchAll((failure) => {
      if (isValidationError(failure)) return Effect.succeed(exitCodes.usage)
      const { exitCode, sentence } = describe(failure)
      const told = failure._tag === "Unauthorized" ? notTaken : Effect.succeed(sentence)
      return Effect.as(Effect.flatMap(told, note), exitCode)
    }),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : Effect.as(noteDefect(cause), exitCodes.failed)
    ),
    (effect) => withOurConsole(effect, argv),
    Effect.provideService(Version, version),
    Effect.provide(
      Layer.mergeAll(NodeContext.layer, CliConfig.layer({ isCaseSensitive: true, showBuiltIns: false }), warnings)
    )
  )
}

/** The process ends with the code that `cli` answers; by ctrl-C, with a shell's code for that. */
const teardown: Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : exitCodes.failed)
  onExit(Cause.isInterruptedOnly(exit.cause) ? 130 : exitCodes.failed)
}

/** Starts the client. */
export const start = (argv: ReadonlyArray<string>, version: string): void =>
  // The runtime's own logger would take the place of ours, and writes to standard output.
  runMain(cli(argv, version), { disableErrorReporting: true, disablePrettyLogger: true, teardown })
