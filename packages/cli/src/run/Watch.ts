import * as Effect from "effect/Effect"
import { note } from "../terminal/Print.js"
import { changedKeys } from "./ChangedKeys.js"
import type { FileAllowance } from "./FileAllowance.js"
import { type Following, nextState } from "./Following.js"
import { dropWhenRefused, keepCopy } from "./Offline.js"
import { prepare, type RunCommand } from "./Prepare.js"
import type { WatchOptions } from "./RunArgv.js"
import type { RunLeases } from "./RunLeases.js"
import type { Signals } from "./Signals.js"
import type { Fetched, Requests } from "./SecretSource.js"
import type { Program } from "./Start.js"
import { supervise } from "./Supervise.js"

/** The state that the command was started with. */
interface Current extends Fetched {
  readonly program: Program
}

interface Watching {
  readonly command: RunCommand
  readonly requests: Requests
  readonly allowance: FileAllowance | undefined
  readonly signals: Signals
  readonly leases: RunLeases | undefined
  readonly options: WatchOptions
  readonly first: Current
}

/** Waits for a change that the command can be started with. */
const nextChange = Effect.fnUntraced(function* (
  { allowance, command, leases, options, requests }: Watching,
  current: Current
) {
  const { offline } = command.options
  const following: Following = {
    requests,
    interval: options.interval,
    ...(offline && {
      keep: (request, secrets) => keepCopy(request, secrets, offline.maxAge),
      drop: dropWhenRefused
    })
  }
  let known: Fetched = current
  for (;;) {
    known = yield* nextState(following, known)
    // Another secret of the environment may have changed, or one may have got the value that it has.
    const keys = changedKeys(current.secrets, known.secrets)
    if (keys === "") continue
    const program = yield* Effect.either(prepare(command, [...known.secrets, ...(leases?.secrets() ?? [])], allowance))
    if (program._tag === "Right") return { ...known, program: program.right, keys }
    yield* note(
      `the environment has changed (${keys}), and the command keeps running unchanged: ${program.left.message}`
    )
  }
})

/** Waits until the leases have to be replaced, and for what the command can be started with then. */
const nextLeases = Effect.fnUntraced(function* ({ allowance, command }: Watching, leases: RunLeases, current: Current) {
  for (;;) {
    const keys = yield* leases.replaced
    const program = yield* Effect.either(prepare(command, [...current.secrets, ...leases.secrets()], allowance))
    if (program._tag === "Right") return { ...current, program: program.right, keys }
    yield* note(`the command keeps running with leases that end: ${program.left.message}`)
  }
})

const next = (watching: Watching, current: Current) => {
  const { leases } = watching
  const changed = nextChange(watching, current)
  return leases === undefined
    ? changed
    : Effect.zipRight(leases.endReplaced, Effect.raceFirst(changed, nextLeases(watching, leases, current)))
}

/**
 * Runs the command beside this process, and starts it again, or sends it a signal, when a value that it sees has changed.
 * While the server cannot be asked the command runs on.
 */
export const watch = (watching: Watching) => {
  const { first, options, signals } = watching
  return supervise({ first, next: (current: Current) => next(watching, current), options, signals })
}
