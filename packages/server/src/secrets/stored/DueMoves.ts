import { dueMillis, type DueTerms } from "@coffer/domain/secrets/Due"
import { soonMillis } from "@coffer/domain/secrets/DueState"
import type { EnvId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { movesRepo } from "../dues/Repo.js"

/** When a secret is due, and when the first entry about it is made. */
export const dueTimes = (terms: DueTerms, versionAt: string) => {
  const millis = dueMillis(terms, Date.parse(versionAt))
  return millis === null
    ? { dueAt: null, eventAt: null }
    : { dueAt: timestamp(millis), eventAt: timestamp(millis - soonMillis) }
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
            forEachInSlices(rows, ({ id, ...terms }) => move({ id, ...dueTimes(terms, at) }))
          )
)
