import { Effect, Layer } from "effect"
import { descriptors, silent } from "../terminal/Output.js"
import { note, noteDefect, warnings } from "../terminal/Print.js"
import { mangled } from "./Mangled.js"
import { prepare, refuse, type RunCommand } from "./Prepare.js"
import type { Signals } from "./Signals.js"
import { beforeStart, bundleRequest, fetchSecrets, withoutCopy } from "./Source.js"
import { type Outcome, start } from "./Start.js"
import { Version } from "../Version.js"

const runCommand = Effect.fnUntraced(function* (given: RunCommand, signals: Signals) {
  yield* refuse(mangled(given.args.length + 1))
  const { allowance, request } = yield* Effect.mapError(bundleRequest(given.options), beforeStart)
  const options = yield* withoutCopy(given.options, request)
  const command = { ...given, options }
  if (options.isChecking) {
    const { checkKeys } = yield* Effect.promise(() => import("./KeyCheck.js"))
    yield* checkKeys(request, options)
  }
  const fetched = yield* Effect.mapError(fetchSecrets(request, options), (failure) =>
    failure._tag === "NotStarted" ? failure : beforeStart(failure)
  )
  const program = yield* prepare(command, fetched.secrets, allowance)
  if (options.watch === undefined) return yield* start(program, signals)
  const { watch } = yield* Effect.promise(() => import("./Watch.js"))
  return yield* watch({ command, request, allowance, signals, options: options.watch, first: { ...fetched, program } })
})

/** Runs a command that sees the secrets of an environment as its variables; answers how it ended. */
export const run = (command: RunCommand, version: string, signals: Signals): Effect.Effect<Outcome> =>
  runCommand(command, signals).pipe(
    Effect.provide(Layer.provideMerge(warnings, command.options.isQuiet ? silent : descriptors)),
    Effect.catchAll(({ code, message }) => Effect.as(note(message), { type: "exit", code } as const)),
    Effect.catchAllCause((cause) => Effect.as(noteDefect(cause), { type: "exit", code: 125 } as const)),
    Effect.provide(descriptors),
    Effect.provideService(Version, version)
  )
