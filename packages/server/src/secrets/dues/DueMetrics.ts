import { type DueState, dueStates } from "@coffer/domain/secrets/DueState"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { gauges } from "../../base/Metrics.js"

/** Secrets that are due, by state, as this process counted them last; NaN if another server of the database counts them. */
export const secretsDue = gauges<DueState>(
  "coffer_secrets_due",
  "Secrets that are overdue, or due within 14 days; only on the server that counts them",
  "state"
)

export const noteDue = (counts: Readonly<Record<DueState, number>>): Effect.Effect<void> =>
  Effect.forEach(dueStates, (state) => Metric.set(secretsDue(state), counts[state]), { discard: true })

/** Another server counts from now on. */
export const forgetDue: Effect.Effect<void> = Effect.forEach(dueStates, (state) => Metric.set(secretsDue(state), NaN), {
  discard: true
})
