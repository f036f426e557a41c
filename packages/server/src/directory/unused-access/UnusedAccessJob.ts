import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { unusedAccessMails } from "./UnusedAccessMails.js"

/** Every ten minutes. A failure is logged and does not end the schedule. */
const UnusedAccessLive = Layer.scopedDiscard(
  Effect.flatMap(unusedAccessMails, (round) =>
    Effect.catchAllCause(round, (cause) => Effect.logError("the owners were not mailed unused access", cause)).pipe(
      Effect.withTracerEnabled(false),
      Effect.repeat(Schedule.spaced("10 minutes")),
      Effect.interruptible,
      Effect.forkScoped
    )
  )
).pipe(Layer.provide(AuditIndex.Default))

/** Mails about unused access, by one server of the database at a time. */
export const UnusedAccessJob = onOneServer({ name: "unused", lease: "30 seconds" }, UnusedAccessLive, Effect.void)
