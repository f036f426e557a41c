import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Database } from "../database/Database.js"
import { takeEnded } from "../database/jobs/Heartbeat.js"
import { Replica } from "../database/jobs/Replica.js"
import { systemSource } from "./AuditEvent.js"
import { AuditLog } from "./AuditLog.js"

const lookEvery = "1 minute"

const source = systemSource("audit log")

/**
 * Records that a server was killed. The entries of reads are written some milliseconds after their responses, so the last ones may
 * be missing, and nobody knows how many. At the start, and on a shared database each minute, for the other servers.
 */
export const UncleanEndsLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { isShared, transaction } = yield* Database
    const audit = yield* AuditLog
    const take = yield* takeEnded
    const note = transaction(
      Effect.gen(function* () {
        const ended = yield* take
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
      Effect.tap((ended) =>
        Effect.forEach(ended, ({ host, pid, seen_at }) =>
          Effect.logWarning(
            `the server with process ${pid} on ${host} was killed after ${seen_at}: the audit entries of its last reads may be missing`
          )
        )
      ),
      Effect.catchAllCause((cause) => Effect.logWarning("servers that were killed could not be recorded", cause))
    )
    yield* note
    if (!isShared) return
    yield* Effect.interruptible(Effect.schedule(note, Schedule.spaced(lookEvery))).pipe(Effect.forkScoped)
  })
).pipe(Layer.provide(Replica.Default))
