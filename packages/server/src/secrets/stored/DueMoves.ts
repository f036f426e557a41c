import { dueMillis, type DueTerms, ownDueMillis } from "@coffer/domain/secrets/Due"
import { soonMillis } from "@coffer/domain/secrets/DueState"
import type { EnvId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { movesRepo } from "../dues/Repo.js"

const orNull = (millis: number | null): string | null => (millis === null ? null : timestamp(millis))

/** When a secret is due, when a person has to see to it, and when the first entry about that is made. */
export const dueTimes = (terms: DueTerms, versionAt: string) => {
  const own = ownDueMillis(terms, Date.parse(versionAt))
  return {
    dueAt: orNull(dueMillis(terms, Date.parse(versionAt))),
    ownAt: orNull(own),
    eventAt: orNull(own === null ? null : own - soonMillis)
  }
}

/**
 * Makes the function that moves the due dates of the secrets to which a revision gave a new version. An environment where no
 * secret is replaced at an age, which its totals say, costs no statement.
 */
export const dueMoves = Effect.map(
  movesRepo,
  ({ move, rotated }) =>
    (
      totals: { readonly rotating: 0 | 1 },
      envId: EnvId,
      { at, revision }: { readonly revision: number; readonly at: string }
    ) =>
      totals.rotating === 0
        ? Effect.void
        : Effect.flatMap(rotated({ envId, revision }), (rows) =>
            forEachInSlices(rows, ({ id, ...terms }) => {
              const { dueAt, eventAt } = dueTimes({ ...terms, turn_at: null }, at)
              return move({ id, dueAt, eventAt })
            })
          )
)
