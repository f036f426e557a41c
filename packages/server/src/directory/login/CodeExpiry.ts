import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const millisIn = (nanos: bigint): number => Number(nanos / 1_000_000n)

/**
 * Measures the age of login codes with the monotonic clock, because setting the wall clock back must not make an expired
 * code valid again.
 */
export class CodeExpiry extends Effect.Service<CodeExpiry>()("@coffer/server/CodeExpiry", {
  sync: () => {
    const issued = new Map<string, bigint>()

    /**
     * Milliseconds from `createdAt` to `millis`, or since the code was issued by the monotonic clock, whichever is longer.
     * Codes of an earlier process and of other servers have the wall clock only.
     */
    const ageOf = (id: string, createdAt: number, millis: number) =>
      Effect.gen(function* () {
        const moment = issued.get(id)
        const byWall = millis - createdAt
        if (moment !== undefined) return Math.max(byWall, millisIn((yield* Clock.currentTimeNanos) - moment))
        // The wall clock was set back since, so the age is unknown: treat the code as expired.
        return byWall < 0 ? Number.POSITIVE_INFINITY : byWall
      })

    return {
      /** Records that a code is issued now, and drops codes older than `lifetime` milliseconds. */
      note: (id: string, lifetime: number) =>
        Effect.map(Clock.currentTimeNanos, (current) => {
          for (const [older, moment] of issued) {
            if (millisIn(current - moment) < lifetime) break
            issued.delete(older)
          }
          issued.set(id, current)
        }),

      ageOf,

      /** Whether a code of these times is expired at `millis`. */
      isExpired: (
        code: { readonly id: string; readonly created_at: string; readonly expires_at: string },
        millis: number
      ) => {
        const created = Date.parse(code.created_at)
        return Effect.map(ageOf(code.id, created, millis), (age) => age >= Date.parse(code.expires_at) - created)
      }
    } as const
  }
}) {}
