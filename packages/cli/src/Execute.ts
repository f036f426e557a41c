import { loadSettings } from "@coffer/client/internal/Settings"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { tree } from "./Commands.js"
import { describe } from "./base/Describe.js"
import { explain } from "./program/Explain.js"
import { FailureForm, failureFormOf, reportFailure } from "./program/FailureForm.js"
import { type CannotDo, exitCodes } from "./base/Failures.js"
import type { Report, Terminal } from "./grammar/Command.js"
import { noCommand, withHint } from "./grammar/Complaints.js"
import { commandHelp, groupHelp, withBoldTitles } from "./grammar/HelpText.js"
import { type Found, locate } from "./grammar/Tree.js"
import { runWords } from "./grammar/Toolkit.js"
import { commandLine } from "./grammar/Usage.js"
import { countProblem, readWords } from "./grammar/Words.js"
import { ended } from "./program/Program.js"
import { Output } from "./terminal/Output.js"
import { colours, show, write } from "./terminal/Print.js"

const usageErrors = (sentences: ReadonlyArray<string>) =>
  Effect.as(reportFailure("WRONG_USAGE", sentences), exitCodes.usage)

const usageError = (sentence: string) => usageErrors([sentence])

/** Help for the terminal's width, or unbroken. */
type Help = (width: number | undefined) => string

const printHelp = (help: Help) =>
  Effect.gen(function* () {
    const { width } = yield* Output
    const text = help(width("output"))
    yield* write(`${(yield* colours) ? withBoldTitles(text) : text}\n`)
    return exitCodes.done
  })

const showHelp = (help: Help) => Effect.flatMap(Output, ({ width }) => show(`${help(width("error"))}\n`))

const unreported = () => Effect.void

/** Reports all mistakes of a command line, and after the last where to look. */
const refuse = Effect.fnUntraced(function* (
  problems: Array.NonEmptyReadonlyArray<string>,
  path: ReadonlyArray<string>,
  report: Report
) {
  yield* report(problems.join("; "))
  return yield* usageErrors([...Array.initNonEmpty(problems), withHint(Array.lastNonEmpty(problems), path)])
})

type Execution = Effect.Effect<number, CannotDo, Terminal>

const runLeaf = ({ leaf, path, words }: Extract<Found, { readonly type: "command" }>): Execution => {
  const reading = readWords(leaf, words)
  if (reading.type === "help") return printHelp((width) => commandHelp(path, leaf, tree, width))
  const report: Report = leaf.report ?? unreported
  if (reading.type === "wrong") return refuse([reading.message, ...reading.others], path, report)
  const problem = countProblem(leaf, reading, commandLine(path))
  if (problem !== undefined) return refuse([problem], path, report)
  return Effect.matchEffect(Effect.scoped(runWords(leaf, reading)), {
    onSuccess: () => Effect.succeed(exitCodes.done),
    onFailure: (failure) => Effect.zipRight(report(describe(failure).sentence), explain(failure))
  })
}

const runCommandLine = (argv: ReadonlyArray<string>): Execution => {
  const found = locate(tree, argv)
  switch (found.type) {
    case "command":
      return found.help ? printHelp((width) => commandHelp(found.path, found.leaf, tree, width)) : runLeaf(found)
    case "group":
      return printHelp((width) => groupHelp(found.path, found.group, tree, width))
    case "missing":
      // Help that was not asked for goes to standard error: a script must not take it for output.
      return Effect.zipRight(
        failureFormOf(argv) === "json"
          ? Effect.void
          : showHelp((width) => groupHelp(found.path, found.group, tree, width)),
        Effect.flatMap(found.group === undefined ? firstSteps : Effect.succeed(""), (steps) =>
          usageError(noCommand(tree, found) + steps)
        )
      )
    case "unknown":
      return usageError(noCommand(tree, found))
  }
}

/** The next step of a person who has set nothing. */
const firstSteps = loadSettings({}).pipe(
  Effect.map(({ find }) => (find("org") === undefined ? "; nothing is set here yet: begin with coffer init" : "")),
  Effect.orElseSucceed(() => "")
)

/** Runs a command line. Returns the exit code. */
export const execute = (argv: ReadonlyArray<string>): Effect.Effect<number, never, Terminal> =>
  Effect.provideService(ended(runCommandLine(argv)), FailureForm, failureFormOf(argv))
