import { codeOf, readProblem } from "@coffer/client/internal/FileError"
import type { FetchedBundle } from "@coffer/client/internal/BundleClient"
import { Variables } from "@coffer/client/internal/Variables"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { CannotDo } from "../../base/Failures.js"
import { changedKeys } from "../ChangedKeys.js"
import { childEnvironment } from "../ChildEnvironment.js"
import { findExecutable } from "../Executable.js"
import { type Following, nextState } from "../Following.js"
import { catchSignals, endAs } from "../Signals.js"
import { type Fetched, merge } from "../SecretSource.js"
import type { Program } from "../Start.js"
import { supervise } from "../Supervise.js"
import { type OutputFile, reopenOutput, updateOutput } from "../../output/OutputFile.js"
import { note } from "../../terminal/Print.js"
import type { RenderOptions } from "./RenderOptions.js"
import { type Rendering, render } from "./Rendering.js"

interface Watched {
  readonly rendering: Rendering
  readonly file: OutputFile
  readonly options: RenderOptions
  readonly fetched: ReadonlyArray<FetchedBundle>
}

/** With jitter and the wait until a change has settled, this is less than 40 s after a change. */
const usualInterval = 20_000

/** The secrets of all environments, as the template names them. */
const named = ({ requests }: Rendering, { parts }: Fetched) =>
  Array.zip(requests, parts).flatMap(([{ path }, { secrets }]) =>
    secrets.map((secret) => (requests.length === 1 ? secret : { ...secret, key: `${path.env_name}:${secret.key}` }))
  )

/** Waits until the file has changed. A change that it cannot be written with is said, and the file stays. */
const nextFile = Effect.fnUntraced(function* ({ file, rendering }: Watched, following: Following, current: Fetched) {
  let known = current
  for (;;) {
    known = yield* nextState(following, known)
    const keys = changedKeys(named(rendering, current), named(rendering, known))
    const written = yield* Effect.either(
      Effect.flatMap(render(rendering, known.parts), (content) =>
        Effect.flatMap(reopenOutput(file), (output) => updateOutput(output, content))
      )
    )
    if (written._tag === "Left") {
      yield* note(`the environment has changed, and ${file.path} stays as it is: ${written.left.message}`)
    } else if (written.right) {
      yield* note(`${file.path} written`)
      return { ...known, keys }
    }
  }
})

/** The program of a command: it gets no secret and no credential as a variable. */
const programOf = Effect.fnUntraced(function* ([command = "", ...args]: ReadonlyArray<string>) {
  const { env } = childEnvironment(yield* Variables, [], { allowed: new Set(), isOverriding: true })
  const lookup = findExecutable(command, env["PATH"])
  if (lookup.type === "not_found") return yield* new CannotDo({ message: `${command}: there is no such command` })
  if (lookup.type === "not_executable") {
    return yield* new CannotDo({ message: `${command} cannot be executed: ${lookup.problem}` })
  }
  const { forShell, path, sure } = lookup
  const program: Program = {
    path,
    command,
    args,
    env,
    forShell,
    sure,
    mask: undefined,
    isCleanedUp: false,
    descriptors: []
  }
  return program
})

const processIn = (text: string): number | undefined => {
  const [, digits] = /^\s*([1-9][0-9]{0,9})\s*$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Sends a signal to the process whose id a file holds. A failure is said: the next change is tried again. */
const sendSignal = (signal: NodeJS.Signals, pidFile: string) =>
  Effect.gen(function* () {
    const text = yield* Effect.try({ try: () => readFileSync(pidFile, "utf8"), catch: readProblem })
    const pid = processIn(text)
    if (pid === undefined) return yield* Effect.fail("it holds no process id")
    yield* Effect.try({
      try: () => process.kill(pid, signal),
      catch: (cause) => (codeOf(cause) === "ESRCH" ? `there is no process ${pid}` : readProblem(cause))
    })
    yield* note(`process ${pid} of ${pidFile} is sent ${signal}`)
  }).pipe(Effect.catchAll((why) => note(`${signal} is not sent to the process of ${pidFile}: ${why}`)))

/** Writes the file after each change, and signals or restarts what reads it. Ends as the command does, or by a signal. */
export const watchFile = Effect.fnUntraced(function* (watched: Watched) {
  const { fetched, options, rendering } = watched
  const { command, pidFile, signal } = options
  const { requests } = rendering
  if (!Array.isNonEmptyReadonlyArray(requests)) {
    return yield* new CannotDo({ message: `${options.template} has no placeholder, so there is nothing to watch` })
  }
  const following: Following = { requests, interval: options.watchInterval ?? usualInterval }
  const first = merge(fetched)
  const next = (current: Fetched) => nextFile(watched, following, current)
  if (command.length > 0) {
    const program = yield* programOf(command)
    const outcome = yield* supervise({
      first: { ...first, program },
      next: (current) => Effect.map(next(current), (changed) => ({ ...changed, program })),
      signals: catchSignals(),
      options: { signal, stopSignal: "SIGTERM", stopTimeout: 10_000 }
    }).pipe(Effect.catchTag("NotStarted", ({ message }) => new CannotDo({ message })))
    endAs(outcome)
    return yield* Effect.never
  }
  // A signal ends this process at once, by itself: it writes in one piece.
  catchSignals()
  let current = first
  for (;;) {
    current = yield* next(current)
    if (signal !== undefined && pidFile !== undefined) yield* sendSignal(signal, pidFile)
  }
})
