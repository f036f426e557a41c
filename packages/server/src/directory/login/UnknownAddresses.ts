import type { AuditAction } from "@coffer/domain/AuditEntry"
import { Effect } from "effect"
import { AuditLog } from "../../audit/AuditLog.js"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { Database } from "../../database/Database.js"

/** How many attempts an hour for addresses without a user get an audit entry each. */
export const entriesAnHour = 60

const source: AuditSource = { actor: { type: "system", id: null, name: "addresses without a user" }, orgId: null }

/**
 * Bounds the audit entries about addresses without a user: a stranger can invent addresses and would fill the log. Attempts
 * over the bound are counted, and one entry an hour for each action records the count. Users' addresses have rate limits.
 */
export class UnknownAddresses extends Effect.Service<UnknownAddresses>()("@coffer/server/UnknownAddresses", {
  scoped: Effect.gen(function* () {
    const audit = yield* AuditLog
    const { transaction } = yield* Database
    const begun = yield* Effect.makeLatch()
    const counted = new Map<AuditAction, number>()
    let written = 0

    /** Whether the attempts get audit entries; otherwise they are counted. */
    const admits = (actions: ReadonlyArray<AuditAction>): boolean => {
      begun.unsafeOpen()
      if (written + actions.length <= entriesAnHour) {
        written += actions.length
        return true
      }
      for (const action of actions) counted.set(action, (counted.get(action) ?? 0) + 1)
      return false
    }

    /** Writes the counts. The next attempt starts a new hour. */
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
      Effect.catchAllCause((cause) =>
        Effect.logError("login attempts for unknown addresses could not be recorded", cause)
      ),
      Effect.forever,
      Effect.forkScoped
    )

    return { admits } as const
  })
}) {}
