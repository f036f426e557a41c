import { Overloaded } from "@coffer/domain/errors/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ServerResponse } from "node:http"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { makeShare } from "../base/Share.js"
import { sharedBounds } from "../base/SharedBounds.js"
import type { TenantShape } from "../base/Tenant.js"
import { cutResponses } from "./HttpMetrics.js"

/** A response up to this size, in bytes, fits into the operating system's send buffer. */
export const smallResponse = 64 * 1024

/** Closes the connection of a response that its client reads too slowly. */
const cut = (response: ServerResponse): void => {
  cutResponses.unsafeUpdate(1, [])
  response.destroy()
}

/** 128 kbit/s. */
const minRate = 16

/** Cuts a response whose client reads the rest of it slower than `rate`, in bytes a millisecond, after the time without progress. */
export const cutIfSlow = (
  response: ServerResponse,
  rest: number,
  { rate = minRate, silence }: { readonly rate?: number; readonly silence: number }
): void => {
  const late = setTimeout(
    () => {
      cut(response)
    },
    silence + rest / rate
  ).unref()
  response.once("close", () => {
    clearTimeout(late)
  })
}

/** How long a response may wait for its client before it can be cut for the memory of another one. */
const graceMillis = 1_000

export const tooManyResponses = new Overloaded({
  message: "too many responses wait for their clients: try again in 1 second",
  retryAfter: 1
})

/** The memory of one response, from before it is built until it was sent or its connection was closed. */
export interface ResponseMemory {
  /** Changes what the response holds to a number of bytes. Returns false, and holds nothing, if they exceed a bound. */
  readonly hold: (bytes: number) => boolean
  /**
   * Reserves the memory of a response that is about to be built. A tenant's large responses are built one at a time. Fails with
   * Overloaded if there is no memory.
   */
  readonly begin: (bytes: number) => Effect.Effect<void, Overloaded, Scope.Scope>
}

/** The response of the current request. Work without a request has no bound. */
export class CurrentResponse extends Context.Reference<CurrentResponse>()("@coffer/server/CurrentResponse", {
  defaultValue: (): ResponseMemory => ({ hold: () => true, begin: () => Effect.void })
}) {}

/** `ResponseMemory.begin` of the current request. Dies with Overloaded: the boundary responds with it. */
export const beginLargeResponse = (bytes: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(CurrentResponse, ({ begin }) => Effect.orDie(begin(bytes)))

interface Held {
  readonly response: ServerResponse
  tenant: string
  bytes: number
  /** When the response began to wait for its client. */
  since: number
}

/** The memory of large responses in a process. */
export const makeLargeResponses = (now = () => performance.now()) => {
  const share = makeShare(sharedBounds.responses)
  const building = makeFairSemaphore(sharedBounds.largeResponses)
  /** The responses that wait for their clients, the longest wait first. */
  const waiting = new Set<Held>()

  const release = (held: Held): void => {
    waiting.delete(held)
    share.giveBack(held.tenant, held.bytes)
    held.bytes = 0
  }

  /**
   * Cuts the response that has waited longest, for a tenant that wants memory: its own, or one of a tenant that holds no less than
   * it would. A tenant without any may have that of everybody. Returns false if none has waited for long.
   */
  const cutFor = (tenant: string, bytes: number): boolean => {
    const own = share.own(tenant)
    for (const held of waiting) {
      if (now() - held.since < graceMillis) return false
      if (own > 0 && held.tenant !== tenant && share.own(held.tenant) < own + bytes) continue
      release(held)
      cut(held.response)
      return true
    }
    return false
  }

  const take = (tenant: string, bytes: number): boolean => {
    while (!share.take(tenant, bytes)) if (!cutFor(tenant, bytes)) return false
    return true
  }

  /** The memory of a response. The tenant has its final name when memory is reserved. */
  return (response: ServerResponse, tenant: TenantShape): ResponseMemory => {
    let held: Held | undefined
    let isBuilding = false
    const build = Effect.suspend(() => {
      if (isBuilding) return Effect.void
      isBuilding = true
      return building.scoped
    })

    const track = (): Held => {
      const tracked: Held = { response, tenant: "", bytes: 0, since: 0 }
      response.once("prefinish", () => {
        if (tracked.bytes === 0) return
        tracked.since = now()
        waiting.add(tracked)
      })
      response.once("close", () => {
        release(tracked)
      })
      return tracked
    }

    const hold = (bytes: number): boolean => {
      if (held !== undefined) release(held)
      if (bytes === 0 || response.destroyed) return true
      if (!take(tenant.name, bytes)) return false
      held ??= track()
      held.tenant = tenant.name
      held.bytes = bytes
      return true
    }

    return {
      hold,
      begin: (bytes) =>
        bytes <= smallResponse
          ? Effect.void
          : Effect.flatMap(build, () => (hold(bytes) ? Effect.void : Effect.fail(tooManyResponses)))
    }
  }
}
