import type { AuditAction } from "@coffer/domain/AuditEntry"
import { Effect } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import type { AuditSource } from "../audit/Told.js"
import { Database } from "../database/Database.js"

/** How many entries an hour are written about addresses without a user, one by one. */
export const entriesAnHour = 60

const source: AuditSource = { actor: { type: "system", id: null, name: "addresses without a user" }, orgId: null }

/**
 * Keeps strangers from growing the audit log without a bound: whoever invents addresses could have an entry written for each
 * attempt, for ever. Beyond a number of entries an hour, attempts for addresses without a user are counted, and one entry for
 * each action says how many there were. Attempts for a user's address are bounded by the limits for each address.
 */
export class UnknownAddresses extends Effect.Service<UnknownAddresses>()("@coffer/server/UnknownAddresses", {
  scoped: Effect.gen(function* () {
    const audit = yield* AuditLog
    const { transaction } = yield* Database
    const begun = yield* Effect.makeLatch()
    const counted = new Map<AuditAction, number>()
    let written = 0

    /** Whether attempts for an unknown address get entries of their own; they are counted if not. */
    const admits = (actions: ReadonlyArray<AuditAction>): boolean => {
      begun.unsafeOpen()
      if (written + actions.length <= entriesAnHour) {
        written += actions.length
        return true
      }
      for (const action of actions) counted.set(action, (counted.get(action) ?? 0) + 1)
      return false
    }

    /** Writes what was counted; the next attempt begins a new hour. */
    const report = Effect.suspend(() => {
      const attempts = [...counted]
      counted.clear()
      written = 0
      if (attempts.length === 0) return Effect.void
      return transaction(
        audit.write(
          source,
          ...attempts.map(
            ([action, count]) =>
              ({ action, resource_type: "user", resource_id: null, metadata: { attempts: count } }) as const
          )
        )
      )
    })

    yield* Effect.addFinalizer(() => report)
    yield* begun.await.pipe(
      Effect.zipRight(Effect.sleep("1 hour")),
      Effect.zipRight(begun.close),
      Effect.zipRight(report),
      Effect.catchAllCause((cause) => Effect.logError("attempts for unknown addresses could not be told", cause)),
      Effect.forever,
      Effect.forkScoped
    )

    return { admits } as const
  })
}) {}
