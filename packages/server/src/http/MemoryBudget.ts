import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { makeShare } from "../base/Share.js"
import type { SharedBound } from "../base/SharedBounds.js"
import { withService } from "../base/WithService.js"

/** Adds bytes to what a request holds. Returns false, and adds nothing, if they would exceed a bound. */
export type Reserve = (bytes: number) => boolean

/** Bounds the memory that is reserved in total and for each holder, so that callers cannot exhaust it. */
export const makeMemoryBudget = (bound: SharedBound) => {
  const share = makeShare(bound)
  return {
    /** The memory of a holder until the scope is closed. */
    scoped: (holder: string): Effect.Effect<Reserve, never, Scope.Scope> =>
      withService(Scope.Scope, (scope) => {
        let mine = 0
        const release = Effect.sync(() => {
          share.giveBack(holder, mine)
          mine = 0
        })
        return Effect.as(Scope.addFinalizer(scope, release), (bytes) => {
          if (!share.take(holder, bytes)) return false
          mine += bytes
          return true
        })
      })
  } as const
}
