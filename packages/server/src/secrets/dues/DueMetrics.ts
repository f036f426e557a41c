import { type DueState, dueStates } from "@coffer/domain/Due"
import { Effect, Metric } from "effect"

/** Secrets that are due, by state, as this process counted them last. */
export const secretsDue = (state: DueState) => Metric.tagged(Metric.gauge("coffer_secrets_due"), "state", state)

/** Whether this process counts them (1): one server of a database does. */
export const countsDue = Metric.gauge("coffer_secrets_due_counted")

export const noteDue = (counts: Readonly<Record<DueState, number>>): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.forEach(dueStates, (state) => Metric.set(secretsDue(state), counts[state]), { discard: true }),
    Metric.set(countsDue, 1)
  )
