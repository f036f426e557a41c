import { Context, Effect, Option } from "effect"
import { Transaction } from "./Database.js"
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

/**
 * Makes `Database.change` of an engine's way to begin a transaction that holds scopes. Within an open transaction, the change
 * is a part of it. It dies if the transaction does not hold its scopes: locking them late would break the order of locks.
 */
export const changing =
  (begin: Begin): Begin =>
  (scopes, change) =>
    Effect.contextWithEffect((context: Context.Context<never>) => {
      const wanted = inOrder(scopes)
      if (Option.isNone(Context.getOption(context, Transaction))) {
        return begin(wanted, Effect.provideService(change, HeldScopes, wanted))
      }
      const held = new Set(heldIn(context).map(scopeKey))
      return wanted.every((scope) => held.has(scopeKey(scope)))
        ? begin([], change)
        : Effect.dieMessage("a change within a transaction needs a scope that the transaction does not hold")
    })
