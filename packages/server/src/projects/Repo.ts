import type { OrgId } from "@coffer/domain/Ids"
import { Project } from "@coffer/domain/Project"
import { Effect, Schema } from "effect"
import { allPages } from "../database/Pages.js"
import { query } from "../database/Query.js"

const ProjectRow = Schema.typeSchema(Project)
const StampRow = Schema.Struct({ created_at: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

export class ProjectsRepo extends Effect.Service<ProjectsRepo>()("@coffer/server/ProjectsRepo", {
  effect: Effect.gen(function* () {
    const { all, first, one, returning, write } = yield* query
    const pages = yield* allPages

    const page = all(ProjectRow)`
      SELECT id, name, created_at, updated_at FROM projects
      WHERE org_id = ${"orgId"} AND removed_at IS NULL AND name > ${"after"} ORDER BY name LIMIT ${"limit"}`

    return {
      all: (orgId: OrgId) =>
        pages(
          "",
          (after, limit) => page({ orgId, after, limit }),
          ({ name }): string => name
        ),

      find: first(ProjectRow)`
        SELECT id, name, created_at, updated_at FROM projects WHERE id = ${"id"} AND removed_at IS NULL`,

      count: one(CountRow)`SELECT count(*) AS count FROM projects WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

      insert: write`
        INSERT INTO projects (id, org_id, name, created_at, updated_at)
        VALUES (${"id"}, ${"orgId"}, ${"name"}, ${"now"}, ${"now"})`,

      rename: returning(StampRow)`
        UPDATE projects SET name = ${"name"}, updated_at = ${"now"}, revision = revision + 1
        WHERE id = ${"id"} AND removed_at IS NULL RETURNING created_at`,

      remove: returning(StampRow)`
        UPDATE projects SET removed_at = ${"now"}, revision = revision + 1
        WHERE id = ${"id"} AND removed_at IS NULL RETURNING created_at`
    } as const
  })
}) {}
