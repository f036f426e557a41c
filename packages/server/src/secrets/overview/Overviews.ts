import { paginationOf } from "@coffer/domain/base/Pagination"
import {
  type Overview,
  overviewCursorOf,
  overviewPositionOf,
  type ProjectOverview
} from "@coffer/domain/secrets/Overview"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { mayAlso, mayList } from "../../access/Rights.js"
import { pacing } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { Dues } from "../dues/Dues.js"
import { Approvals } from "../use/Approvals.js"
import { makeAttention } from "./Attention.js"
import { type EnvironmentRow, overviewRepo } from "./Repo.js"

const defaultLimit = 50
/** How many environments one statement reads. */
const environmentsAtOnce = 200

/** The most work that a request may do. A decision compares an environment with each rule of the caller. */
const budget = 100_000
const costOfEnvironment = 20
const rulesPerUnit = 2

interface Request {
  readonly limit?: number
  readonly after?: string
}

/** Adds an environment to the overview of its project. Nothing but its existence counts if its keys may not be listed. */
const added = (before: ProjectOverview, row: EnvironmentRow, isListed: boolean): ProjectOverview => {
  const seen = { ...before, environments: before.environments + 1 }
  if (!isListed) return seen
  const counted = { ...seen, keys: before.keys + row.secrets }
  const { changed_at, changed_by } = row
  return changed_at !== null && (before.changed_at === null || changed_at > before.changed_at)
    ? { ...counted, changed_at, changed_by }
    : counted
}

/** How much is in the projects of an organization, when they last changed, and what is due, waits or fails. */
export class Overviews extends Effect.Service<Overviews>()("@coffer/server/Overviews", {
  effect: Effect.gen(function* () {
    const repo = yield* overviewRepo
    const attentionIn = yield* makeAttention

    /** A page of projects by name. It ends early, after a whole project, once the request has looked at enough. */
    const show = method(
      "Overviews.show",
      function* (place: Place<"project.list">, { after, limit = defaultLimit }: Request) {
        const orgId = place.org.id
        const onlyId = place.actor.type === "service_account" ? (place.actor.project?.id ?? null) : null
        const { count } = yield* repo.count({ orgId, onlyId })
        const names = yield* repo.projects({ orgId, onlyId, after: overviewPositionOf(after), limit: limit + 1 })
        const shown = names.slice(0, limit)
        const found = new Map(
          shown.map(({ name }): [string, ProjectOverview] => [
            name,
            { project: name, environments: 0, keys: 0, changed_at: null, changed_by: null }
          ])
        )
        const last = shown.at(-1)?.name ?? ""
        const pace = pacing()
        const cost = costOfEnvironment + place.grants.length / rulesPerUnit
        let left = budget
        let project: string = shown[0]?.name ?? ""
        let isWhole = shown.length === 0
        for (let env = ""; !isWhole && left > 0;) {
          const rows = yield* repo.environments({ orgId, onlyId, project, env, last, limit: environmentsAtOnce })
          for (const row of rows) {
            const before = found.get(row.project)
            if (before !== undefined) {
              found.set(row.project, added(before, row, mayList(place, row.project_id, row)))
            }
            // A caller may have many rules.
            yield* pace
          }
          left -= rows.length * cost
          const end = rows.at(-1)
          isWhole = end === undefined || rows.length < environmentsAtOnce
          if (end !== undefined) ({ project, env } = end)
        }
        const data = [...found.values()].filter((one) => isWhole || one.project < project)
        const hasMore = !isWhole || names.length > limit
        const next = hasMore ? data.at(-1) : undefined
        const seesWebhooks = mayAlso(place, "webhook.list", { org: place.org.name, project: "", env: "" })
        const page: Overview = {
          projects: count,
          ...(after === undefined && (yield* attentionIn(place))),
          ...(seesWebhooks && { failing_webhooks: (yield* repo.failingWebhooks({ orgId })).count }),
          data,
          pagination: paginationOf(limit, next === undefined ? null : overviewCursorOf(next.project))
        }
        return page
      }
    )

    return { show } as const
  }),
  dependencies: [Dues.Default, Approvals.Default]
}) {}
