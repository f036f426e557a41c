import type { ArchivedPlace } from "@coffer/domain/archive/ArchivedOrganization"
import { EnvId, type ProjectId } from "@coffer/domain/base/Ids"
import { type Email, EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approversText, makeProtections } from "../../access/gate/Protections.js"
import { liveAs, liveEnv } from "../../access/place/PlaceRow.js"
import { now } from "../../base/Time.js"
import { query } from "../../database/Query.js"
import type { Arriving } from "../archives/Arriving.js"
import { phase } from "../archives/Phases.js"
import { termsOf } from "../requests/ProtectionTerms.js"
import { withMembersAlone } from "./ArchivedProtections.js"
import { endOf, environmentsRepo } from "./Repo.js"

const OriginRow = Schema.Struct({ name: EnvName, source: EnvName })
const PlaceRow = Schema.Struct({ id: EnvId })

/** Environments in archives, with their protections and without secrets. */
export const environmentsArchive = Effect.gen(function* () {
  const repo = yield* environmentsRepo
  const protections = yield* makeProtections
  const { all, insert, one, write: statement } = yield* query

  const origins = all(OriginRow)`
    SELECT e.name AS name, o.name AS source FROM environments e JOIN environments o ON o.id = e.source_id
    WHERE e.project_id = ${"projectId"} AND ${liveEnv} AND ${liveAs("o")}`

  const place = one(PlaceRow)`
    SELECT e.id AS id FROM projects p JOIN environments e ON e.project_id = p.id
    WHERE p.org_id = ${"orgId"} AND p.name = ${"project"} AND e.name = ${"env"}`

  const insertProtections = insert("protections", [
    ...["env_id", "org_id", "needed", "approvers", "self", "break_glass", "expires_after", "passkey", "version"],
    ...["updated_by", "updated_at"]
  ])
  const markProtected = statement`UPDATE environments SET protected = 1 WHERE id = ${"id"}`

  const protectionOf = (id: EnvId, isMember: (email: Email) => boolean) =>
    Effect.map(protections.find(id), (found) => {
      if (found === null) return {}
      const { approvers, break_glass, expires_after, needed, passkey, self } = found
      const terms = { needed, approvers, self, break_glass, expires_after, passkey }
      return { protection: withMembersAlone(terms, isMember) }
    })

  const read = Effect.fnUntraced(function* (projectId: ProjectId, isMember: (email: Email) => boolean) {
    const sources = new Map((yield* origins({ projectId })).map((env) => [env.name, env.source]))
    return yield* Effect.forEach(yield* repo.all({ projectId }), (env) =>
      Effect.map(env.is_protected === 1 ? protectionOf(env.id, isMember) : Effect.succeed({}), (protection) => {
        const from = sources.get(env.name)
        return { name: env.name, ...protection, ...endOf(env), ...(from !== undefined && { from }) }
      })
    )
  })

  const writeProtection = Effect.fnUntraced(function* (
    { id: org_id, importer: { email: updated_by } }: Arriving,
    project: string,
    { name: env, protection }: ArchivedPlace
  ) {
    if (protection === undefined) return
    const { approvers, break_glass, expires_after, needed, passkey, self } = termsOf(protection)
    const { id: env_id } = yield* place({ orgId: org_id, project, env })
    yield* insertProtections([
      {
        ...{ env_id, org_id, needed, approvers: approversText(approvers), self: self ? 1 : 0 },
        ...{ break_glass: JSON.stringify(break_glass), expires_after, passkey: passkey ? 1 : 0, version: 1 },
        ...{ updated_by, updated_at: yield* now }
      }
    ])
    yield* markProtected({ id: env_id })
  })

  /** Writes the protections of environments that are written. */
  const protect = (arriving: Arriving) =>
    phase(
      arriving.structure.projects.flatMap(({ environments, name: project }) =>
        environments.flatMap((env) => (env.protection === undefined ? [] : [{ project, env }]))
      ),
      Effect.succeed((some) =>
        Effect.forEach(some, ({ env, project }) => writeProtection(arriving, project, env), { discard: true })
      ),
      2
    )

  return { read, protect } as const
})
