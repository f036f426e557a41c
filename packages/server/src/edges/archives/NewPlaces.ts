import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { EnvId, type OrgId, ProjectId, ServiceAccountId } from "@coffer/domain/Ids"
import type { EnvName } from "@coffer/domain/Names"
import { previewDefaults } from "@coffer/domain/Previews"
import * as Effect from "effect/Effect"
import { previewsRepo } from "../../access/Previews.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { importRepo } from "../../secrets/archives/ImportRepo.js"

/** How long an import lasts. */
export const lifetime = 24 * 60 * 60 * 1000

/** Writes projects, environments and service accounts of an organization that stays hidden until its import is finished. */
export const makeNewPlaces = Effect.gen(function* () {
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
    const earliestEnd = (yield* clock) + lifetime
    yield* forEachInSlices(projects, ({ environments, name, order = [], previews: allowed, strict }) =>
      Effect.gen(function* () {
        const id = ProjectId.make(yield* uuidV7)
        ids.set(name, id)
        yield* repo.insertProjects([
          { id, org_id: orgId, name, strict: strict ? 1 : 0, created_at: at, updated_at: at }
        ])
        const made = yield* Effect.forEach(environments, (env) =>
          Effect.map(uuidV7, (envId) => ({ env, id: EnvId.make(envId) }))
        )
        const idOf = (env: EnvName | undefined) => made.find((one) => one.env.name === env)?.id ?? null
        yield* repo.insertEnvironments(
          made.map(({ env, id: envId }) => {
            const position = order.indexOf(env.name)
            return {
              id: envId,
              project_id: id,
              name: env.name,
              position: position < 0 ? null : position,
              // One that ends before the import does could not be verified.
              expires_at: env.expires_at === undefined ? null : Math.max(Date.parse(env.expires_at), earliestEnd),
              source_id: idOf(env.from),
              created_at: at,
              updated_at: at
            }
          })
        )
        const sourceId = idOf(allowed?.from)
        if (allowed === undefined || sourceId === null) return
        const { longest = previewDefaults.longest, max = previewDefaults.max, pattern } = allowed
        yield* previews.set({ projectId: id, sourceId, pattern, max, longest, by, now: at })
      })
    )
    const rows = yield* forEachInSlices(
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
          created_at: at,
          updated_at: at
        }))
    )
    yield* repo.insertAccounts(rows)
  })
})
