import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { ServerConfig } from "../../base/Config.js"
import { timestamp } from "../../base/Time.js"
import { Database } from "../../database/Database.js"
import { Jobs } from "../../database/jobs/Jobs.js"
import { makeObjectStore } from "../backups/ConfiguredStore.js"
import { AuditArchives } from "./AuditArchives.js"

/** One process at a time archives. */
export const archiveJob = { name: "archive", lease: "2 minutes" } as const

/** Moves audit entries that are older than SERVICE_AUDIT_KEEP_DAYS to archives, at the start and every hour. */
export const AuditArchivesLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { auditKeepDays, backups } = yield* ServerConfig
    if (auditKeepDays === 0 || backups === null) return
    const archives = yield* AuditArchives
    const jobs = yield* Jobs
    const { clock } = yield* Database
    const store = yield* makeObjectStore(backups)
    const kept = Duration.toMillis(Duration.days(auditKeepDays))
    const round = Effect.gen(function* () {
      const before = timestamp((yield* clock) - kept)
      const done = yield* jobs.runAlone(archiveJob, (fenced) => archives.archive(store, before, fenced))
      if (done._tag === "None") return
      for (const { first_seq, last_seq, log, name } of done.value.archives) {
        yield* Effect.logInfo(`audit entries ${first_seq} to ${last_seq} of ${log} left for the archive ${name}`)
      }
      for (const problem of done.value.problems) yield* Effect.logError(`an audit log is not archived: ${problem}`)
    })
    yield* round.pipe(
      Effect.catchAllCause((cause) =>
        Effect.logError("audit entries could not be archived: trying again in an hour", cause)
      ),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([AuditArchives.Default, Jobs.Default]))
