import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Database } from "../database/Database.js"
import { takeEnded, takeOne } from "../database/jobs/Heartbeat.js"
import { Replica } from "../database/jobs/Replica.js"
import { systemSource } from "./AuditEvent.js"
import { AuditLog } from "./AuditLog.js"

const lookEvery = "1 minute"

const source = systemSource("audit log")

/**
 * Returns how to record the servers that an effect takes as killed. The entries of reads are written some milliseconds after their
 * responses, so the last ones may be missing, and nobody knows how many.
 */
const recording = Effect.gen(function* () {
  const { transaction } = yield* Database
  const audit = yield* AuditLog
  return (taken: Effect.Effect.Success<typeof takeEnded>) =>
    transaction(
      Effect.gen(function* () {
        const ended = yield* taken
        yield* audit.change(
          source,
          ...ended.map(
            (server) =>
              ({
                action: "audit.missing",
                resource_type: "server",
                resource_id: null,
                metadata: { entries: null, ...server }
              }) as const
          )
        )
        return ended
      })
    ).pipe(
      Effect.flatMap((ended) =>
        Effect.forEach(
          ended,
          ({ host, pid, seen_at }) =>
            Effect.logWarning(
              `the server with process ${pid} on ${host} was killed after ${seen_at}: the audit entries of its last reads may be missing`
            ),
          { discard: true }
        )
      ),
      Effect.catchAllCause((cause) => Effect.logWarning("servers that were killed could not be recorded", cause))
    )
})

/** Records a server that is known to have ended, by the id of its heartbeat, unless it ended in order. */
export const uncleanEndOf = Effect.gen(function* () {
  const record = yield* recording
  const take = yield* takeOne
  return (id: string) => record(take({ id }))
})

/** Records servers that were killed at the start, and on a shared database each minute, for the other servers. */
export const UncleanEndsLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { isShared } = yield* Database
    const record = (yield* recording)(yield* takeEnded)
    yield* record
    if (!isShared) return
    yield* Effect.interruptible(Effect.schedule(record, Schedule.spaced(lookEvery))).pipe(Effect.forkScoped)
  })
).pipe(Layer.provide(Replica.Default))
