import { mayReveal } from "@coffer/domain/access/Actor"
import { RateLimited } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { type OrgPlace, type Place, sourceOf } from "../../access/Access.js"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { orgScope } from "../../database/Scopes.js"

const limit: RateLimit = { kind: "compare", max: 60, window: 3_600_000 }

const refused = (retryAfter: number) =>
  new RateLimited({
    message: `an account with reveal: false compares values at most ${limit.max} times an hour: try again in ${retryAfter} seconds`,
    retryAfter
  })

/** Comparisons of values by accounts that are never given values, and could test guesses. */
export class Comparisons extends Effect.Service<Comparisons>()("@coffer/server/Comparisons", {
  effect: Effect.gen(function* () {
    const limits = yield* RateLimits
    const audit = yield* AuditLog
    const { change } = yield* Database

    /** Call before a comparison. Counts and records those of accounts without reveal. Fails with RateLimited beyond the limit. */
    const admit = (
      place: OrgPlace<Place<"secret.compare" | "env.list">["action"]>,
      compared: Pick<AuditEvent, "resource_type" | "resource_id" | "metadata">
    ): Effect.Effect<void, RateLimited> => {
      const { actor, org } = place
      if (mayReveal(actor)) return Effect.void
      return change(
        [orgScope(org.id)],
        Effect.gen(function* () {
          const seconds = yield* limits.wait(limit, actor.id)
          if (seconds > 0) return yield* refused(seconds)
          yield* limits.count(limit, actor.id)
          yield* audit.change(sourceOf(place), { action: "secret.compare", ...compared })
        })
      ).pipe(limits.limited(limit, actor.id, refused))
    }

    return { admit } as const
  }),
  dependencies: [RateLimits.Default]
}) {}
