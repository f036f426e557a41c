import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import type { WatchOptions } from "./RunArgv.js"
import type { Outcome, Signals } from "./Signals.js"
import { type Child, endingSignals, type NotStarted, type Program, startBeside } from "./Start.js"

/** The state that a command was started with. */
interface Started {
  readonly program: Program
}

/** A command that is started again, or sent a signal, when its environment has changed. */
interface Supervised<S extends Started> {
  readonly first: S
  /** Waits for a change that the command can be started with, and returns it with the keys, for people. */
  readonly next: (current: S) => Effect.Effect<S & { readonly keys: string }, never, Output>
  readonly signals: Signals
  readonly options: Pick<WatchOptions, "signal" | "stopSignal" | "stopTimeout">
}

type StopOptions = Pick<WatchOptions, "stopSignal" | "stopTimeout">

/** Ends the command: asks first, and does not ask twice. */
const stop = (child: Child, { stopSignal, stopTimeout }: StopOptions): Effect.Effect<Outcome, NotStarted, Output> =>
  Effect.gen(function* () {
    child.kill(stopSignal)
    const ended = yield* Effect.timeoutOption(child.ended, Duration.millis(stopTimeout))
    if (Option.isSome(ended)) return ended.value
    yield* note(`the command has not ended within ${stopTimeout / 1000} s of ${stopSignal}: it is killed`)
    child.kill("SIGKILL")
    return yield* child.ended
  })

/**
 * Forwards signals to the command. A terminating signal also stops restarts for a while, because some commands survive
 * ctrl-C.
 */
const makeReceiver = (signals: Signals, clock: Clock.Clock, patience: number) => {
  let child: Child | undefined
  let restarting = false
  let asked: number | undefined
  signals.giveTo((signal) => {
    // A command may take HUP for "read your configuration again".
    if (endingSignals.has(signal) && (restarting || signal !== "SIGHUP")) asked = clock.unsafeCurrentTimeMillis()
    child?.forward(signal)
  })
  return {
    started: (next: Child) => {
      child = next
      restarting = false
    },
    restarts: () => {
      restarting = true
    },
    /** Whether a signal that is to end it all came a short while ago. */
    asked: () => asked !== undefined && clock.unsafeCurrentTimeMillis() - asked <= patience
  }
}

/** Follows the environment while the command runs. Returns how the command ended, or the new secrets to start it with. */
const follow = Effect.fnUntraced(function* <S extends Started>(
  { next, options }: Supervised<S>,
  started: S,
  child: Child,
  receiver: ReturnType<typeof makeReceiver>
) {
  const ended = Effect.map(child.ended, (outcome) => ({ type: "ended", outcome }) as const)
  let current = started
  for (;;) {
    const changes = Effect.map(next(current), (state) => ({ type: "changed", state }) as const)
    const event = yield* Effect.raceFirst(ended, changes)
    if (event.type === "ended") return event
    const changed = `the environment has changed (${event.state.keys})`
    current = event.state
    if (options.signal !== undefined) {
      yield* note(`${changed}: the command is sent ${options.signal}`)
      child.kill(options.signal)
      continue
    }
    // A command that received its stop signal is given the time to end.
    if (receiver.asked()) {
      const outcome = yield* Effect.timeoutOption(child.ended, Duration.millis(options.stopTimeout))
      if (Option.isSome(outcome)) return { type: "ended", outcome: outcome.value } as const
    }
    yield* note(`${changed}: the command is started again`)
    receiver.restarts()
    const outcome = yield* stop(child, options)
    return receiver.asked() ? ({ type: "ended", outcome } as const) : ({ type: "changed", state: current } as const)
  }
})

/**
 * Runs the command beside this process and follows its environment: starts it again, or sends it a signal, when something
 * that it uses has changed. The command's own end is the end.
 */
export const supervise = Effect.fnUntraced(function* <S extends Started>(supervised: Supervised<S>) {
  const { first, options, signals } = supervised
  const receiver = makeReceiver(signals, yield* Effect.clock, options.stopTimeout)
  let current = first
  for (;;) {
    const child = yield* startBeside(current.program)
    receiver.started(child)
    const event = yield* follow(supervised, current, child, receiver).pipe(
      Effect.onError(() => Effect.ignore(stop(child, options)))
    )
    if (event.type === "ended") return event.outcome
    current = event.state
  }
})
