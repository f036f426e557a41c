import type { AuditAction } from "@coffer/domain/audit/AuditEntry"
import * as Effect from "effect/Effect"
import { type AuditEvent, type AuditSource, systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"

/** How many attempts an hour for a target get an audit entry each. */
export const entriesAnHour = 60

/** A target of strangers' login attempts, with the source and the resource of the entry that counts the attempts. */
export interface Target {
  readonly id: string
  readonly source: AuditSource
  readonly resource: Pick<AuditEvent, "resource_type" | "resource_id">
}

/** All addresses without a user and accounts that do not exist, together: a stranger can invent as many as he likes. */
const unknown: Target = {
  id: "",
  source: systemSource("addresses without a user"),
  resource: { resource_type: "user", resource_id: null }
}

interface Attempts {
  readonly target: Target
  readonly counted: Map<AuditAction, number>
  written: number
}

/**
 * Bounds the audit entries that callers without a credential cause: they would fill the log. Attempts over the bound are
 * counted, and one entry an hour for each target and action records the count.
 */
export class UnknownLoginAudit extends Effect.Service<UnknownLoginAudit>()("@coffer/server/UnknownLoginAudit", {
  scoped: Effect.gen(function* () {
    const audit = yield* AuditLog
    const { transaction } = yield* Database
    const begun = yield* Effect.makeLatch()
    const targets = new Map<string, Attempts>()

    /** Whether the attempts get audit entries; otherwise they are counted. */
    const admits = (actions: ReadonlyArray<AuditAction>, target: Target = unknown): boolean => {
      begun.unsafeOpen()
      const attempts = targets.get(target.id) ?? { target, counted: new Map<AuditAction, number>(), written: 0 }
      targets.set(target.id, attempts)
      if (attempts.written + actions.length <= entriesAnHour) {
        attempts.written += actions.length
        return true
      }
      for (const action of actions) attempts.counted.set(action, (attempts.counted.get(action) ?? 0) + 1)
      return false
    }

    const write = ({ counted, target: { resource, source } }: Attempts) =>
      transaction(
        audit.change(
          source,
          ...[...counted].map(([action, count]) => ({ action, ...resource, metadata: { attempts: count } }) as const)
        )
      )

    /** Writes the counts. The next attempt starts a new hour. */
    const report = Effect.suspend(() => {
      const attempts = [...targets.values()].filter(({ counted }) => counted.size > 0)
      targets.clear()
      return Effect.forEach(attempts, write, { discard: true })
    })

    yield* Effect.addFinalizer(() => report)
    yield* begun.await.pipe(
      Effect.zipRight(Effect.sleep("1 hour")),
      Effect.zipRight(begun.close),
      Effect.zipRight(report),
      Effect.catchAllCause((cause) => Effect.logError("attempts of strangers could not be recorded", cause)),
      Effect.forever,
      Effect.forkScoped
    )

    return { admits } as const
  })
}) {}
