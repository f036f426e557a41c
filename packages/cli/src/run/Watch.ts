import {
  type BundleFailure,
  type BundleRequest,
  type FetchedBundle,
  pollBundle
} from "@coffer/client/internal/BundleClient"
import * as Array from "effect/Array"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { changedKeys } from "./ChangedKeys.js"
import { sentenceOf } from "./Explain.js"
import type { FileAllowance } from "./FileAllowance.js"
import { dropWhenRefused, keepCopy } from "./Offline.js"
import { prepare, type RunCommand } from "./Prepare.js"
import type { WatchOptions } from "./RunArgv.js"
import type { Signals } from "./Signals.js"
import { type Fetched, merge, type Requests } from "./Source.js"
import { type Child, endingSignals, type NotStarted, type Outcome, type Program, startBeside } from "./Start.js"

/** What the command was started with. */
interface Current extends Fetched {
  readonly program: Program
}

interface Watching {
  readonly command: RunCommand
  readonly requests: Requests
  readonly allowance: FileAllowance | undefined
  readonly signals: Signals
  readonly options: WatchOptions
  readonly first: Current
}

/** Failures make the questions rarer, up to this. */
const rarest = 60_000

/** Before the command is started again, nothing may have changed for so long. */
const calm = 1000

const pause = (milliseconds: number) =>
  Effect.flatMap(Random.nextRange(0.8, 1.2), (factor) => Effect.sleep(Duration.millis(milliseconds * factor)))

/** Asks for one place. Returns the same bundle where nothing has changed. */
const pollOne = Effect.fnUntraced(function* ({ command }: Watching, request: BundleRequest, known: FetchedBundle) {
  const { offline } = command.options
  const polled = yield* Effect.tapError(pollBundle(request, known.etag), (failure) =>
    offline === undefined ? Effect.void : dropWhenRefused(request, failure)
  )
  return polled.type === "unchanged" ? known : polled.bundle
})

/** Asks for every place. Returns the same secrets where nothing has changed. */
const poll = Effect.fnUntraced(function* (watching: Watching, known: Fetched) {
  const asked = Array.zip(watching.requests, known.parts)
  const parts = yield* Effect.forEach(asked, ([request, part]) => pollOne(watching, request, part))
  return parts.every((part, index) => part === known.parts[index]) ? known : merge(parts)
})

/** Polls until the secrets stay the same for a moment, so that many changes at once are one. */
const settle = (watching: Watching, known: Fetched, times = 10): Effect.Effect<Fetched, BundleFailure, Output> =>
  Effect.gen(function* () {
    yield* Effect.sleep(Duration.millis(calm))
    const next = yield* poll(watching, known)
    return next === known || times <= 1 ? next : yield* settle(watching, next, times - 1)
  })

/** One question. None where nothing has changed. */
const ask = Effect.fnUntraced(function* (watching: Watching, current: Fetched) {
  const { command, requests } = watching
  const changed = yield* poll(watching, current)
  const latest = changed === current ? current : yield* settle(watching, changed)
  if (command.options.offline !== undefined) {
    yield* Effect.forEach(Array.zip(requests, latest.parts), ([request, { secrets }]) => keepCopy(request, secrets))
  }
  return latest === current ? Option.none() : Option.some(latest)
})

const describeTrouble = (failure: BundleFailure) => {
  const isAway = failure._tag === "ServerUnreachable" || failure._tag === "UnexpectedResponse"
  const back = isAway ? " until the server is back" : ""
  return Effect.map(sentenceOf(failure), (sentence) => `changes are not followed${back}: ${sentence}`)
}

/** Waits for a change that the command can be started with. */
const nextChange = Effect.fnUntraced(function* (watching: Watching, current: Current) {
  const { allowance, command, options } = watching
  let known: Fetched = current
  let wait = options.interval
  let trouble: string | undefined
  for (;;) {
    yield* pause(wait)
    const asked = yield* Effect.either(ask(watching, known))
    if (asked._tag === "Left") {
      const sentence = yield* describeTrouble(asked.left)
      if (sentence !== trouble) yield* note(sentence)
      trouble = sentence
      wait = Math.min(wait * 2, Math.max(rarest, options.interval))
      continue
    }
    if (trouble !== undefined) yield* note("changes are followed again")
    trouble = undefined
    wait = options.interval
    if (Option.isNone(asked.right)) continue
    known = asked.right.value
    // Another secret of the environment may have changed, or one may have got the value that it has.
    const keys = changedKeys(current.secrets, known.secrets)
    if (keys === "") continue
    const program = yield* Effect.either(prepare(command, known.secrets, allowance))
    if (program._tag === "Right") return { ...known, program: program.right, keys }
    yield* note(
      `the environment has changed (${keys}), and the command keeps running unchanged: ${program.left.message}`
    )
  }
})

/** Ends the command: asks first, and does not ask twice. */
const stop = (child: Child, { stopSignal, stopTimeout }: WatchOptions): Effect.Effect<Outcome, NotStarted, Output> =>
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
const follow = Effect.fnUntraced(function* (
  watching: Watching,
  started: Current,
  child: Child,
  receiver: ReturnType<typeof makeReceiver>
) {
  const { options } = watching
  const ended = Effect.map(child.ended, (outcome) => ({ type: "ended", outcome }) as const)
  const change = (current: Current) =>
    Effect.raceFirst(
      ended,
      Effect.map(nextChange(watching, current), (next) => ({ type: "changed", next }) as const)
    )
  let current = started
  for (;;) {
    const event = yield* change(current)
    if (event.type === "ended") return event
    const changed = `the environment has changed (${event.next.keys})`
    current = event.next
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
    return receiver.asked() ? ({ type: "ended", outcome } as const) : ({ type: "changed", next: current } as const)
  }
})

/**
 * Runs the command beside this process and follows its environment: starts it again, or sends it a signal, when a value
 * that it sees has changed. The command's own end is the end. While the server cannot be asked the command runs on.
 */
export const watch = Effect.fnUntraced(function* (watching: Watching) {
  const { first, options, signals } = watching
  const receiver = makeReceiver(signals, yield* Effect.clock, options.stopTimeout)
  let current = first
  for (;;) {
    const child = yield* startBeside(current.program)
    receiver.started(child)
    const event = yield* follow(watching, current, child, receiver).pipe(
      Effect.onError(() => Effect.ignore(stop(child, options)))
    )
    if (event.type === "ended") return event.outcome
    current = event.next
  }
})
