import { actorName } from "@coffer/domain/access/Actor"
import { NotFound } from "@coffer/domain/errors/Errors"
import type { EnvName } from "@coffer/domain/base/Names"
import type { Pattern } from "@coffer/domain/base/Pattern"
import { previewDefaults, type Previews } from "@coffer/domain/access/Previews"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { type PreviewsRow, previewsRepo } from "../../access/place/Previews.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { environmentsRepo } from "../environments/Repo.js"

export interface PreviewsRequest {
  readonly from: EnvName
  readonly pattern: Pattern
  readonly max?: number
  readonly longest?: string
}

const previewsOf = ({ source, source_id: _id, ...row }: PreviewsRow): Previews => ({ from: source, ...row })

const termsOf = ({ longest, max, pattern, source: from }: PreviewsRow) => ({ from, pattern, max, longest })

/** Which environments those who write in a project may create themselves. */
export class ProjectPreviews extends Effect.Service<ProjectPreviews>()("@coffer/server/ProjectPreviews", {
  effect: Effect.gen(function* () {
    const audit = yield* AuditLog
    const environments = yield* environmentsRepo
    const repo = yield* previewsRepo

    const find = ({ project }: Place<"previews.read" | "previews.set" | "previews.delete">) =>
      repo.find({ projectId: project.id })

    const missing = (name: string) => new NotFound({ message: `project ${name} allows no previews` })

    const get = traced("ProjectPreviews.get")((place: Place<"previews.read">) =>
      Effect.flatMap(find(place), (found) =>
        found === undefined ? missing(place.project.name) : Effect.succeed(previewsOf(found))
      )
    )

    const record = (place: Place<"previews.set" | "previews.delete">, metadata: Readonly<Record<string, unknown>>) =>
      audit.change(sourceOf(place), {
        action: place.action,
        resource_type: "project",
        resource_id: place.project.id,
        metadata
      })

    const set = method("ProjectPreviews.set", function* (place: Place<"previews.set">, request: PreviewsRequest) {
      const { from, longest = previewDefaults.longest, max = previewDefaults.max, pattern } = request
      const { project } = place
      const all = yield* environments.revisions({ projectId: project.id })
      const source = all.find(({ name }) => name === from) ?? (yield* notFound(`environment ${from}`))
      const before = yield* find(place)
      const row = {
        source_id: source.id,
        source: from,
        pattern,
        max,
        longest,
        updated_by: actorName(place.actor),
        updated_at: yield* now
      }
      yield* repo.set({
        projectId: project.id,
        sourceId: source.id,
        pattern,
        max,
        longest,
        by: row.updated_by,
        now: row.updated_at
      })
      yield* record(place, { ...termsOf(row), ...(before !== undefined && { before: termsOf(before) }) })
      return previewsOf(row)
    })

    const remove = method("ProjectPreviews.remove", function* (place: Place<"previews.delete">) {
      const before = (yield* find(place)) ?? (yield* missing(place.project.name))
      yield* repo.remove({ projectId: place.project.id })
      yield* record(place, { before: termsOf(before) })
    })

    return { get, set, remove } as const
  })
}) {}
