import type { ArchivedOrganization, ArchivedPlace } from "@coffer/domain/archive/ArchivedOrganization"
import { EnvId, type OrgId, ProjectId, ServiceAccountId } from "@coffer/domain/base/Ids"
import type { EnvName } from "@coffer/domain/base/Names"
import { previewDefaults } from "@coffer/domain/access/Previews"
import * as Effect from "effect/Effect"
import { previewsRepo } from "../../access/place/Previews.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { importRepo } from "../../secrets/archives/ImportRepo.js"
import { phase } from "./Phases.js"

/** How long an import lasts. */
export const lifetime = 24 * 60 * 60 * 1000

/** How long an import lasts whose places are being written, after each step: whoever was killed with it left nothing for long. */
export const lifetimeOfStep = 10 * 60 * 1000

/** Projects, environments and service accounts of an organization that stays hidden until its import is finished, as phases. */
export const makeImportPlaces = Effect.gen(function* () {
  const repo = yield* importRepo
  const previews = yield* previewsRepo
  const { clock } = yield* Database

  return Effect.fnUntraced(function* (
    orgId: OrgId,
    { accounts, projects }: ArchivedOrganization,
    by: string,
    at: string
  ) {
    const ids = new Map<string, ProjectId>()
    const stamps = { created_at: at, updated_at: at }
    const earliestEnd = (yield* clock) + lifetime
    const made = yield* forEachInSlices(projects, (project) =>
      Effect.gen(function* () {
        const id = ProjectId.make(yield* uuidV7)
        ids.set(project.name, id)
        const environments = yield* Effect.forEach(project.environments, (env) =>
          Effect.map(uuidV7, (envId) => ({ env, id: EnvId.make(envId) }))
        )
        return { project, id, environments }
      })
    )
    const idOf = (
      environments: ReadonlyArray<{ readonly env: ArchivedPlace; readonly id: EnvId }>,
      env: EnvName | undefined
    ) => environments.find((one) => one.env.name === env)?.id ?? null

    const projectRows = made.map(({ id, project: { name, strict } }) => ({
      ...{ id, org_id: orgId, name, strict: strict ? 1 : 0 },
      ...stamps
    }))
    const environmentRows = made.flatMap(({ environments, id: project_id, project: { order = [] } }) =>
      environments.map(({ env, id }) => {
        const position = order.indexOf(env.name)
        return {
          ...{ id, project_id, name: env.name, position: position < 0 ? null : position },
          // One that ends before the import does could not be verified.
          expires_at: env.expires_at === undefined ? null : Math.max(Date.parse(env.expires_at), earliestEnd),
          source_id: idOf(environments, env.from),
          ...stamps
        }
      })
    )
    const allowed = made.flatMap(({ environments, id: projectId, project: { previews: some } }) => {
      const sourceId = idOf(environments, some?.from)
      if (some === undefined || sourceId === null) return []
      const { longest = previewDefaults.longest, max = previewDefaults.max, pattern } = some
      return [{ projectId, sourceId, pattern, max, longest, by, now: at }]
    })
    const accountRows = yield* forEachInSlices(
      accounts,
      ({ allowed_networks, expires_in_days = null, name, project, reveal }) =>
        Effect.map(uuidV7, (id) => ({
          id: ServiceAccountId.make(id),
          org_id: orgId,
          project_id: project === undefined ? null : (ids.get(project) ?? null),
          name,
          reveal: reveal ? 1 : 0,
          allowed_networks: allowed_networks === undefined ? null : JSON.stringify(allowed_networks),
          expires_in_days,
          created_by: by,
          ...stamps
        }))
    )
    return [
      phase(projectRows, Effect.succeed(repo.insertProjects)),
      phase(environmentRows, Effect.succeed(repo.insertEnvironments)),
      phase(
        allowed,
        Effect.succeed((some) => Effect.forEach(some, previews.set, { discard: true }))
      ),
      phase(accountRows, Effect.succeed(repo.insertAccounts))
    ] as const
  })
})
