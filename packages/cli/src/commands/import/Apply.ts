import { defined } from "@coffer/domain/base/Defined"
import type { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { reasonForm } from "@coffer/domain/base/ReasonForm"
import { describe } from "../../base/Describe.js"
import { plain } from "../../base/Failures.js"
import type { Call } from "../../grammar/Command.js"
import { note } from "../../terminal/Print.js"
import type { Progress } from "../../terminal/Progress.js"
import { type Compared, isChanged, placeName } from "./Compare.js"
import type { Outcome } from "./PlanView.js"

/** A note is one line. Names of the tool may be long, and hold anything. */
const noteOf = (source: string): string => {
  const text = plain(`imported from ${source}`).toWellFormed()
  return text.length <= reasonForm.maxLength ? text : `${text.slice(0, reasonForm.maxLength - 2).toWellFormed()}…`
}

/** Creates what does not exist. A new project has three environments already. */
const createPlace = Effect.fnUntraced(function* (call: Call, org: OrgName, all: ReadonlyArray<Compared>) {
  const made = new Map<string, ReadonlySet<string>>()
  for (const { exists, planned } of all) {
    if (exists === "all") continue
    const { env, project } = planned
    const path = { org_name: org, project_name: project }
    if (exists === "none" && !made.has(project)) {
      yield* call("projects", (api) => api.create({ path: { org_name: org }, payload: { name: project } }))
      const { data } = yield* call("environments", (api) => api.list({ path }))
      made.set(project, new Set(data.map(({ name }) => name)))
    }
    if (made.get(project)?.has(env) !== true) {
      yield* call("environments", (api) => api.create({ path, payload: { name: env } }))
    }
  }
})

/**
 * Writes a plan, an environment after the other, each in one transaction and only as it was compared. What waits for votes does
 * not hold up the others.
 */
export const apply = Effect.fnUntraced(function* (
  call: Call,
  org: OrgName,
  all: ReadonlyArray<Compared>,
  progress: Progress
) {
  yield* createPlace(call, org, all)
  const outcomes = new Map<Compared, Outcome>()
  const waiting: Array<ChangeRequested> = []
  for (const each of all) {
    const { etag, planned } = each
    const { env, project, references, set, source } = planned
    if (set.size + references.size === 0 || !isChanged(each)) continue
    const path = { org_name: org, project_name: project, env_name: env }
    const payload = { set, references, note: noteOf(source) }
    const headers = defined({ "if-match": etag })
    const writing = call("environments", (api) => api.writeBundle({ path, headers, payload })).pipe(
      // At once: a later environment may fail.
      Effect.tap(({ revision }) =>
        Effect.zipRight(progress.clear, note(`${placeName(planned)} written, revision ${revision}`))
      ),
      Effect.map(({ revision }): Outcome => ({ revision })),
      Effect.catchTag("ChangeRequested", (requested) =>
        Effect.gen(function* () {
          const before = waiting.at(-1)
          if (before !== undefined) yield* note(describe(before).sentence)
          waiting.push(requested)
          return { request: requested.request.id } satisfies Outcome
        })
      )
    )
    outcomes.set(each, yield* progress.during(`writing ${placeName(planned)}`, writing))
  }
  return { outcomes, waiting }
})
