import { Overloaded } from "@coffer/domain/Errors"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { ServerResponse } from "node:http"
import { withService } from "../base/WithService.js"

/** Adds bytes to what a request holds. Returns false, and adds nothing, if they would exceed a bound. */
export type Reserve = (bytes: number) => boolean

/** Changes what a response holds to a number of bytes. Returns false, and holds nothing, if they would exceed a bound. */
export type Hold = (holder: string, bytes: number) => boolean

/** A reservation over the bound is granted if there is no other: it could never be granted otherwise. */
const exceeds = (held: number, more: number, bound: number): boolean => held > 0 && held + more > bound

/** Bounds the memory that is reserved in total and for each holder, so that callers cannot exhaust it. */
export const makeMemoryBudget = (bounds: { readonly total: number; readonly each: number }) => {
  const byHolder = new Map<string, number>()
  let total = 0
  const add = (holder: string, bytes: number): void => {
    total += bytes
    const rest = (byHolder.get(holder) ?? 0) + bytes
    if (rest === 0) byHolder.delete(holder)
    else byHolder.set(holder, rest)
  }
  const reservation = (holder: string) => {
    let mine = 0
    return {
      reserve: (bytes: number): boolean => {
        const own = byHolder.get(holder) ?? 0
        if (exceeds(total, bytes, bounds.total) || exceeds(own, bytes, bounds.each)) return false
        mine += bytes
        add(holder, bytes)
        return true
      },
      release: (): void => {
        if (mine !== 0) add(holder, -mine)
        mine = 0
      }
    }
  }

  return {
    /** The memory of a holder until the scope is closed. */
    scoped: (holder: string): Effect.Effect<Reserve, never, Scope.Scope> =>
      withService(Scope.Scope, (scope) => {
        const { release, reserve } = reservation(holder)
        return Effect.as(Scope.addFinalizer(scope, Effect.sync(release)), reserve)
      }),

    /** The memory of a response until it was sent or its connection was closed, which may be long after the request's scope. */
    untilClosed: (response: ServerResponse): Hold => {
      let release = (): void => undefined
      return (holder, bytes) => {
        release()
        if (bytes === 0 || response.destroyed) return true
        const held = reservation(holder)
        release = held.release
        response.once("close", release)
        return held.reserve(bytes)
      }
    }
  } as const
}

export const tooManyResponses = new Overloaded({
  message: "too many responses wait for their clients: try again in 1 second",
  retryAfter: 1
})
