import {
  type BundleFailure,
  type BundleRequest,
  type BundleSecret,
  type FetchedBundle,
  pollBundle
} from "@coffer/client/internal/BundleClient"
import * as Array from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { sentenceOf } from "./StartFailure.js"
import { type Fetched, merge, type Requests } from "./SecretSource.js"

/** Places whose changes are followed. */
export interface Following {
  readonly requests: Requests
  /** How often to ask for changes, in milliseconds. */
  readonly interval: number
  /** Called with what a place holds, after each question. */
  readonly keep?: (request: BundleRequest, secrets: ReadonlyArray<BundleSecret>) => Effect.Effect<void, never, Output>
  /** Called with each failure of a place. */
  readonly drop?: (request: BundleRequest, failure: BundleFailure) => Effect.Effect<void, never, Output>
}

/** Failures make the questions rarer, up to this. */
const rarest = 60_000

/** Before a change is followed, nothing may have changed for so long. */
const calm = 1000

const pause = (milliseconds: number) =>
  Effect.flatMap(Random.nextRange(0.8, 1.2), (factor) => Effect.sleep(Duration.millis(milliseconds * factor)))

/** Asks for one place. Returns the same bundle where nothing has changed. */
const pollOne = Effect.fnUntraced(function* ({ drop }: Following, request: BundleRequest, known: FetchedBundle) {
  const polled = yield* Effect.tapError(pollBundle(request, known.etag), (failure) =>
    drop === undefined ? Effect.void : drop(request, failure)
  )
  return polled.type === "unchanged" ? known : polled.bundle
})

/** Asks for every place. Returns the same secrets where nothing has changed. */
const poll = Effect.fnUntraced(function* (following: Following, known: Fetched) {
  const asked = Array.zip(following.requests, known.parts)
  const parts = yield* Effect.forEach(asked, ([request, part]) => pollOne(following, request, part))
  return parts.every((part, index) => part === known.parts[index]) ? known : merge(parts)
})

/** Polls until the secrets stay the same for a moment, so that many changes at once are one. */
const settle = (following: Following, known: Fetched, times = 10): Effect.Effect<Fetched, BundleFailure, Output> =>
  Effect.gen(function* () {
    yield* Effect.sleep(Duration.millis(calm))
    const next = yield* poll(following, known)
    return next === known || times <= 1 ? next : yield* settle(following, next, times - 1)
  })

/** One question. Returns the same secrets where nothing has changed. */
const ask = Effect.fnUntraced(function* (following: Following, current: Fetched) {
  const { keep, requests } = following
  const changed = yield* poll(following, current)
  const latest = changed === current ? current : yield* settle(following, changed)
  if (keep !== undefined) {
    yield* Effect.forEach(Array.zip(requests, latest.parts), ([request, { secrets }]) => keep(request, secrets))
  }
  return latest
})

const describeTrouble = (failure: BundleFailure) => {
  const isAway = failure._tag === "ServerUnreachable" || failure._tag === "UnexpectedResponse"
  const back = isAway ? " until the server is back" : ""
  return Effect.map(sentenceOf(failure), (sentence) => `changes are not followed${back}: ${sentence}`)
}

/** Waits for the next change of the places, and until it has settled. Says once why changes cannot be followed. */
export const nextState = Effect.fnUntraced(function* (following: Following, current: Fetched) {
  const { interval } = following
  let wait = interval
  let trouble: string | undefined
  for (;;) {
    yield* pause(wait)
    const asked = yield* Effect.either(ask(following, current))
    if (asked._tag === "Left") {
      const sentence = yield* describeTrouble(asked.left)
      if (sentence !== trouble) yield* note(sentence)
      trouble = sentence
      wait = Math.min(wait * 2, Math.max(rarest, interval))
      continue
    }
    if (trouble !== undefined) yield* note("changes are followed again")
    trouble = undefined
    wait = interval
    if (asked.right !== current) return asked.right
  }
})
