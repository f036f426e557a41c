import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { HoldsLock } from "../base/EventLoop.js"
import { spanIn } from "../base/tracing/Traced.js"
import { type Ending, type Open, Transaction } from "./Database.js"
import { inOrder, type Scope, scopeKey } from "./Scopes.js"

/** The scopes of the open change, in the order of locks. */
export class HeldScopes extends Context.Tag("@coffer/server/Changing/HeldScopes")<HeldScopes, ReadonlyArray<Scope>>() {}

/** The scopes of the open change; none outside of a change. */
export const heldIn = (context: Context.Context<never>): ReadonlyArray<Scope> =>
  Option.getOrElse(Context.getOption(context, HeldScopes), () => [])

type Begin = <A, E, R>(
  scopes: ReadonlyArray<Scope>,
  change: Effect.Effect<A, E, R>
) => Effect.Effect<A, E, Exclude<R, Transaction>>

/** Runs a change that holds scopes. Its event-loop ticks come first, because others wait for them. */
const holding = <A, E, R>(scopes: ReadonlyArray<Scope>, change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.mapInputContext(change, (context: Context.Context<R>) =>
    Context.add(Context.add(context, HeldScopes, scopes), HoldsLock, true)
  )

/** Runs hooks with the exit of their transaction. */
export const settle = (endings: ReadonlyArray<Ending>, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  endings.length === 0 ? Effect.void : Effect.forEach(endings, (ending) => ending(exit), { discard: true })

/** Runs a nested transaction. If it is rolled back, its hooks get its exit instead of the whole transaction's. */
const part = <A, E, R>(open: Open, depth: number, change: Effect.Effect<A, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const before = open.endings.length
      const { release, undo } = yield* Effect.orDie(open.savepoint(depth))
      const drop = open.queues.mark()
      const changed = yield* Effect.exit(Effect.provideService(restore(change), Transaction, [open, depth]))
      const exit = Exit.isSuccess(changed)
        ? yield* Effect.exit(Effect.as(Effect.orDie(release), changed.value))
        : changed
      if (Exit.isSuccess(exit)) return exit.value
      drop()
      yield* Effect.orDie(undo)
      for (const ending of open.endings.splice(before)) open.endings.push(() => ending(exit))
      return yield* exit
    })
  )

/**
 * Makes `Database.change` and `Database.transaction` of an engine's way to begin a transaction that holds scopes. Within an open
 * transaction, a change is a part of it. It dies if the transaction does not hold its scopes: locking them late would break the
 * order of locks.
 */
export const changing = (system: string, begin: Begin) => {
  const options = { kind: "client", attributes: { "db.system.name": system } } as const

  const change: Begin = (scopes, effect) =>
    Effect.withFiberRuntime((fiber) => {
      const { currentContext } = fiber
      const wanted = inOrder(scopes)
      const outer = Context.getOption(currentContext, Transaction)
      if (Option.isNone(outer)) {
        return spanIn(fiber, "sql.transaction", options, begin(wanted, holding(wanted, effect)))
      }
      const [open, depth] = outer.value
      const held = new Set(heldIn(currentContext).map(scopeKey))
      return wanted.every((scope) => held.has(scopeKey(scope)))
        ? spanIn(fiber, "sql.transaction", options, part(open, depth + 1, effect))
        : Effect.dieMessage("a change within a transaction needs a scope that the transaction does not hold")
    })

  return { change, transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => change([], effect) } as const
}
