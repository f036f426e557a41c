import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { inOrganization } from "../../database/jobs/EachRow.js"
import { Fence } from "../../database/jobs/Lease.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { dueJobRepo } from "./JobRepo.js"
import { type Due, eachDue } from "./EachDue.js"

/**
 * Makes the entries `secret.due`: one when a due date is 14 days away, and one when it has passed. Each is noted in the
 * transaction that makes it, and fails that one if it cannot be written: none is lost, and none is made again.
 */
export const dueEvents = Effect.gen(function* () {
  const repo = yield* dueJobRepo
  const audit = yield* AuditLog
  const fenced = yield* Fence

  const make = Effect.fnUntraced(function* (row: Due, now: string) {
    const { env, event_at, id, key, org_id: orgId, own_at: due_at, owner, project, version } = row
    if (event_at === null) return
    const isOverdue = due_at <= now
    const noted = yield* repo.note({ id, before: event_at, next: isOverdue ? null : due_at })
    if (noted.length === 0) return
    yield* audit.change(
      { ...systemSource("due dates", orgId), project, env },
      {
        action: "secret.due",
        resource_type: "secret",
        resource_id: id,
        metadata: { key, version, state: isOverdue ? "overdue" : "due", due_at, ...(owner !== null && { owner }) }
      }
    )
  })

  return Effect.gen(function* () {
    const now = timestamp(yield* Clock.currentTimeMillis)
    yield* eachDue(
      (position) => repo.events({ ...position, until: now }),
      ({ event_at }) => event_at,
      (rows) =>
        // A transaction holds the end of one log at a time, and not for long.
        Effect.as(
          Effect.forEach(
            Object.values(Array.groupBy(rows, ({ org_id }) => org_id)).flatMap((some) => Array.chunksOf(some, 20)),
            (some) =>
              inOrganization(some[0].org_id, Effect.asVoid(forEachInSlices(some, (row) => make(row, now))), fenced),
            { discard: true }
          ),
          true
        )
    )
  })
})
