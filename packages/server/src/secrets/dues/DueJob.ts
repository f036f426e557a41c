import { soonMillis } from "@coffer/domain/secrets/DueState"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { timestamp } from "../../base/Time.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { forgetDue, noteDue } from "./DueMetrics.js"
import { dueEvents } from "./Events.js"
import { dueJobRepo } from "./JobRepo.js"
import { dueMails } from "./Mails.js"
import { eachDue } from "./EachDue.js"

/** Counts the secrets that are due, page by page. */
const counting = Effect.map(dueJobRepo, (repo) =>
  Effect.gen(function* () {
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    const until = timestamp(millis + soonMillis)
    const counts = { due: 0, overdue: 0 }
    yield* eachDue(
      (position) => repo.due({ ...position, until }),
      ({ due_at }) => due_at,
      (rows) =>
        Effect.sync(() => {
          for (const { own_at } of rows) if (own_at <= until) counts[own_at <= now ? "overdue" : "due"]++
          return true
        })
    )
    yield* noteDue(counts)
  })
)

/** Every minute. A failure is logged and does not end the schedule. */
const DueLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const steps = [
      ["the entries about due secrets were not made", yield* dueEvents],
      ["the secrets that are due were not counted", yield* counting],
      ["the owners of due secrets were not mailed", yield* dueMails]
    ] as const
    yield* Effect.addFinalizer(() => forgetDue)
    yield* Effect.forEach(steps, ([problem, step]) =>
      Effect.catchAllCause(step, (cause) => Effect.logError(problem, cause))
    ).pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.interruptible, Effect.forkScoped)
  })
)

/** Audit entries, metrics and reminders for due secrets, on one server of the database at a time. */
export const DueJob = onOneServer({ name: "due", lease: "30 seconds" }, DueLive, Effect.void)
