import { CurrentCaller } from "@coffer/domain/access/Actor"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { ChangeMode, type ChangeRecord, type RequestedChange } from "../../access/gate/GateDecision.js"
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

  /**
   * Makes a change as a requester, in the open transaction. Returns what it made, and the record of what it altered. Without an
   * approval it is a rehearsal, which is undone.
   *
   * @param check may refuse the change for what it altered
   */
  const attempt = <A, E>(
    change: Effect.Effect<A, E, CurrentCaller>,
    requester: Requester,
    { approval, envId }: Pick<RequestedChange, "approval" | "envId">,
    check: (record: ChangeRecord) => Effect.Effect<void, E> = () => Effect.void
  ): Effect.Effect<{ readonly made: A | null; readonly record: ChangeRecord }, E> =>
    Effect.suspend(() => {
      const record: ChangeRecord = { entered: false, affected: [], revision: null }
      return transaction(
        change.pipe(
          Effect.provideService(CurrentCaller, requester),
          Effect.provideService(ChangeMode, { kind: "requested", envId, approval, record }),
          Effect.tap(() => check(record)),
          Effect.filterOrFail(
            () => approval !== null,
            () => new Rehearsed()
          )
        )
      ).pipe(
        Effect.catchAll((error) => (error instanceof Rehearsed ? Effect.succeed(null) : Effect.fail(error))),
        Effect.map((made) => ({ made, record }))
      )
    })

  return { register, callOf, attempt } as const
})
