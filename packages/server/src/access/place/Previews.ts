import { EnvId, type ProjectId } from "@coffer/domain/base/Ids"
import { EnvName } from "@coffer/domain/base/Names"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import type { PreviewAction } from "@coffer/domain/access/Permissions"
import { spanSeconds } from "@coffer/domain/base/Span"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { type Decision, decide, type PlaceNames, type Subject } from "./Decisions.js"
import { liveEnv } from "./PlaceRow.js"

/** The request of a call for an environment that previews may be for. */
export interface Asked {
  /** The name of a new environment. */
  readonly name?: EnvName
  /** The environment that a new one is copied from. */
  readonly from?: EnvName | undefined
  /** The new end, in milliseconds since 1970; null: none. */
  readonly end?: number | null
}

const PreviewsRow = Schema.Struct({
  source_id: EnvId,
  source: EnvName,
  pattern: Schema.String,
  max: Schema.Number,
  longest: Schema.String,
  updated_by: Schema.String,
  updated_at: Schema.String
})
export type PreviewsRow = typeof PreviewsRow.Type

const MadeRow = Schema.Struct({ id: EnvId, name: EnvName })

/** By how much the clock of a caller may be ahead, who computes an end. */
const skewMillis = 5 * 60 * 1000

const previewActions: ReadonlySet<string> = new Set<PreviewAction>(["env.create", "env.extend", "env.delete"])

export const isPreviewAction = (action: string): action is PreviewAction => previewActions.has(action)

/** The terms for the previews of projects. They end with the environment that the previews are copied from. */
export const previewsRepo = Effect.map(query, ({ all, first, returning, write }) => {
  const find = first(PreviewsRow)`
    SELECT v.source_id AS source_id, e.name AS source, v.pattern AS pattern, v.max AS max, v.longest AS longest,
      v.updated_by AS updated_by, v.updated_at AS updated_at
    FROM previews v JOIN environments e ON e.id = v.source_id AND ${liveEnv} WHERE v.project_id = ${"projectId"}`

  const madeFrom = all(MadeRow)`
    SELECT e.id AS id, e.name AS name FROM environments e
    WHERE e.project_id = ${"projectId"} AND e.source_id = ${"sourceId"} AND e.expires_at IS NOT NULL AND ${liveEnv}`

  return {
    find,

    /** The previews that there are. */
    made: (projectId: ProjectId, { pattern, source_id: sourceId }: PreviewsRow) =>
      Effect.map(madeFrom({ projectId, sourceId }), (rows) => rows.filter(({ name }) => matcherOf(name)(pattern))),

    set: write`
      INSERT INTO previews (project_id, source_id, pattern, max, longest, updated_by, updated_at)
      VALUES (${"projectId"}, ${"sourceId"}, ${"pattern"}, ${"max"}, ${"longest"}, ${"by"}, ${"now"})
      ON CONFLICT (project_id) DO UPDATE SET source_id = excluded.source_id, pattern = excluded.pattern, max = excluded.max,
        longest = excluded.longest, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,

    remove: returning(Schema.Struct({ project_id: Schema.String }))`
      DELETE FROM previews WHERE project_id = ${"projectId"} RETURNING project_id`
  } as const
})

const allowed: Decision = { allowed: true, via: "rule" }
const denied = (missing: string): Decision => ({ allowed: false, missing })

/** Whether rules let a subject write in some environment of a project. */
const writesSomewhere = (subject: Subject, place: PlaceNames): boolean =>
  decide(
    "secret.write",
    { ...subject, grants: subject.grants.map((grant) => ({ ...grant, env_pattern: "*" })) },
    { ...place, env: "any" }
  ).allowed

/** Decides by what previews a project allows, for those who have not the right to an action. */
export const makePreviews = Effect.gen(function* () {
  const repo = yield* previewsRepo
  const { clock } = yield* Database

  /** Why an end is none that a preview may have; null if it may. */
  const wrongEnd = (project: string, { longest }: PreviewsRow, end: number | null | undefined) =>
    Effect.map(clock, (millis) => {
      const latest = millis + spanSeconds(longest) * 1_000 + skewMillis
      return typeof end === "number" && end <= latest
        ? null
        : `a preview of project ${project} ends at most ${longest} from now`
    })

  /**
   * Decides without the right to an action. Null if previews have nothing to do with it: the project allows none, or the caller
   * writes nowhere in it. Without `asked`, before the body was read, only what the path says is checked.
   */
  return Effect.fnUntraced(function* (
    subject: Subject,
    names: PlaceNames,
    project: { readonly id: ProjectId; readonly name: string },
    envId: EnvId | null,
    asked: Asked | undefined
  ): Effect.fn.Return<Decision | null> {
    if (!writesSomewhere(subject, names)) return null
    const previews = yield* repo.find({ projectId: project.id })
    if (previews === undefined) return null
    const { pattern, source } = previews
    const name = names.env ?? asked?.name
    if (name === undefined) return allowed
    const admins = `the role admin in organization ${names.org}`
    if (!matcherOf(name)(pattern)) {
      return denied(`this needs ${admins}: the previews of project ${project.name} are named ${pattern}`)
    }
    const decision = decide("secret.write", subject, { ...names, env: name })
    if (!decision.allowed) return decision
    if (envId === null) {
      if (asked?.from !== source) {
        return denied(`this needs ${admins}: a preview of project ${project.name} is a copy of ${source}`)
      }
    } else if ((yield* repo.made(project.id, previews)).every(({ id }) => id !== envId)) {
      return denied(`this needs ${admins}: ${name} is no preview, which ends and is a copy of ${source}`)
    }
    if (asked === undefined || (envId !== null && asked.end === undefined)) return allowed
    const wrong = yield* wrongEnd(project.name, previews, asked.end)
    return wrong === null ? allowed : denied(wrong)
  })
})
