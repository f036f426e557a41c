import { Clock, Effect } from "effect"

const millisIn = (nanos: bigint): number => Number(nanos / 1_000_000n)

/**
 * How long ago this process issued a login code, by the clock of the process, which nobody can set. A wall clock that is
 * set back must not make an expired code good again.
 */
export class CodeAges extends Effect.Service<CodeAges>()("@coffer/server/CodeAges", {
  sync: () => {
    const issued = new Map<string, bigint>()

    return {
      /** Notes that a code is issued now, and forgets those that are older than `lifetime` milliseconds. */
      note: (id: string, lifetime: number) =>
        Effect.map(Clock.currentTimeNanos, (current) => {
          for (const [older, moment] of issued) {
            if (millisIn(current - moment) < lifetime) break
            issued.delete(older)
          }
          issued.set(id, current)
        }),

      /** Milliseconds since a code was issued: by both clocks the longer, or by the wall clock for an earlier process's code. */
      ageOf: (id: string, createdAt: number) =>
        Effect.gen(function* () {
          const moment = issued.get(id)
          const byWall = (yield* Clock.currentTimeMillis) - createdAt
          if (moment !== undefined) return Math.max(byWall, millisIn((yield* Clock.currentTimeNanos) - moment))
          // Nobody knows how old a code of the future is.
          return byWall < 0 ? Number.POSITIVE_INFINITY : byWall
        })
    } as const
  }
}) {}
