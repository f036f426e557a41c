import { CurrentCaller } from "@coffer/domain/access/Actor"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { Passage, type RequestedChange } from "../../access/gate/Passage.js"
import type { Requester } from "../../access/caller/Requester.js"
import { Database } from "../../database/Database.js"
import type { CallRequest } from "./CallCodec.js"

/** Undoes a rehearsal. */
class Rehearsed extends Data.TaggedError("Rehearsed") {}

/** Whether a call is about what was removed: it needs what others need not have any more. */
export const isAboutRemoved = (call: string | null): boolean => call?.startsWith("trash.") === true

/** A call that can be asked for and made later. */
export interface ReplayableCall {
  /** Methods, since the request of each call has its own type: it is decoded by the call's own schemas. */
  run(request: CallRequest): Effect.Effect<unknown, unknown, CurrentCaller>
  finish(made: unknown): Effect.Effect<unknown>
}

/** The calls that can be asked for, by their names in the contract, and how they are made for whoever asked. */
export const makeReplayableCalls = Effect.gen(function* () {
  const { transaction } = yield* Database
  const calls = new Map<string, ReplayableCall>()

  const register = <Request extends CallRequest, A, B>(
    call: string,
    run: (request: Request) => Effect.Effect<A, unknown, CurrentCaller>,
    finish: (made: A) => Effect.Effect<A | B> = Effect.succeed
  ): void => {
    const registered: { run: typeof run; finish: typeof finish } = { run, finish }
    calls.set(call, registered)
  }

  const callOf = (call: string): Effect.Effect<ReplayableCall> =>
    Effect.suspend(() => {
      const found = calls.get(call)
      return found === undefined ? Effect.dieMessage(`no handler makes ${call}`) : Effect.succeed(found)
    })

  /** Makes a change as a requester, in the open transaction; a rehearsal is undone, and returns nothing. */
  const attempt = <A, E>(
    change: Effect.Effect<A, E, CurrentCaller>,
    requester: Requester,
    passage: RequestedChange,
    keeps: boolean
  ): Effect.Effect<A | void, E> =>
    transaction(
      change.pipe(
        Effect.provideService(CurrentCaller, requester),
        Effect.provideService(Passage, passage),
        Effect.flatMap((made): Effect.Effect<A, Rehearsed> => (keeps ? Effect.succeed(made) : new Rehearsed()))
      )
    ).pipe(
      Effect.catchAll((error): Effect.Effect<void, E> =>
        error instanceof Rehearsed ? Effect.void : Effect.fail(error)
      )
    )

  return { register, callOf, attempt } as const
})
