import type { ArchivedAccount, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { type OrgId, type ProjectId, ServiceAccountId } from "@coffer/domain/base/Ids"
import type { ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ServerConfig } from "../../base/Config.js"
import { misleading, networkOf } from "../../base/config/Networks.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { uuidV7 } from "../../base/Uuid.js"
import { query } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"
import { stamps } from "../archives/Arriving.js"
import { firstOf, invalid, namesIn, type Problem, uniqueNames, unknownName } from "../archives/Checks.js"
import { phase } from "../archives/Phases.js"
import { federationsArchive } from "../federations/Archive.js"
import { federationLimit } from "../federations/Federations.js"
import { serviceAccountsRepo } from "./Repo.js"
import { networksIn } from "./ServiceAccounts.js"

const accountProblem = (
  { allowed_networks = [], federations, name, project }: ArchivedAccount,
  projects: ReadonlySet<string>
): Problem => {
  const [wrong] = misleading(allowed_networks.filter((network) => Option.isNone(networkOf(network))))
  return firstOf([
    wrong === undefined ? null : invalid(`service account ${name}: allowed_networks: ${wrong}`),
    federationLimit.problem(federations.length, `service account ${name}`),
    unknownName("project", projects, project === undefined ? [] : [project]),
    uniqueNames(`federation of service account ${name}`, namesIn(federations))
  ])
}

export const accountsProblem = ({ accounts, projects }: ArchivedOrganization): Problem => {
  const known = new Set(namesIn(projects))
  return firstOf([
    uniqueNames("service account", namesIn(accounts)),
    ...accounts.map((account) => accountProblem(account, known))
  ])
}

/** Service accounts in archives, with their federations and without keys. */
export const accountsArchive = Effect.gen(function* () {
  const repo = yield* serviceAccountsRepo
  const federations = yield* federationsArchive
  const { trustedProxies } = yield* ServerConfig
  const { all } = yield* query

  const stranded = all(idRow(ServiceAccountId))`
    SELECT a.id AS id FROM service_accounts a JOIN projects p ON p.id = a.project_id AND p.removed_at IS NOT NULL
    WHERE a.org_id = ${"orgId"} AND a.removed_at IS NULL`

  /** Without those of a removed project: a new one of its name is not theirs. */
  const read = Effect.fnUntraced(function* (orgId: OrgId) {
    const without = new Set((yield* stranded({ orgId })).map(({ id }) => id))
    const rows = (yield* repo.all(orgId)).filter(({ id }) => !without.has(id))
    return yield* forEachInSlices(rows, ({ allowed_networks, expires_in_days, id, name, project, reveal }) =>
      Effect.map(federations.read(id), (some) => ({
        name,
        ...(project !== null && { project }),
        reveal: reveal === 1,
        ...(expires_in_days !== null && { expires_in_days }),
        ...(allowed_networks !== null && { allowed_networks: networksIn(allowed_networks) }),
        federations: some
      }))
    )
  })

  /** Leaves out what this server would not make of accounts, and says which of their networks are not what they seem. */
  const admit = (accounts: ReadonlyArray<ArchivedAccount>, leave: (note: string) => void) => {
    const names = new Map<string, string>()
    return forEachInSlices(accounts, (account) =>
      Effect.map(federations.admit(account, leave), (kept) => {
        const { allowed_networks, name } = account
        const alike = names.get(name.trim().toLowerCase())
        names.set(name.trim().toLowerCase(), name)
        if (alike !== undefined) {
          leave(`service accounts ${alike} and ${name} are kept, but their names differ only in case or spaces`)
        }
        if (allowed_networks !== undefined && trustedProxies === null) {
          leave(`the networks of service account ${name} bind nobody here until SERVICE_TRUSTED_PROXIES is set`)
        }
        for (const note of misleading(allowed_networks ?? [])) {
          leave(`a network of service account ${name} is kept, but ${note}`)
        }
        return { ...account, federations: kept }
      })
    )
  }

  /** The ids of accounts that are written, by name. */
  const ids = (orgId: OrgId) => Effect.map(repo.all(orgId), (rows) => new Map(rows.map(({ id, name }) => [name, id])))

  const write = (
    org_id: OrgId,
    accounts: ReadonlyArray<ArchivedAccount>,
    projects: ReadonlyMap<ProjectName, ProjectId>,
    created_by: string
  ) =>
    phase(
      accounts,
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const at = yield* stamps
          const row = ({ allowed_networks, expires_in_days, name, project, reveal }: ArchivedAccount) =>
            Effect.map(uuidV7, (id) => ({
              ...{
                id: ServiceAccountId.make(id),
                org_id,
                name,
                expires_in_days: expires_in_days ?? null,
                created_by,
                ...at
              },
              project_id: project === undefined ? null : (projects.get(project) ?? null),
              reveal: reveal ? 1 : 0,
              allowed_networks: allowed_networks === undefined ? null : JSON.stringify(allowed_networks)
            }))
          yield* repo.insert(yield* Effect.forEach(some, row))
        })
      )
    )

  return { read, admit, ids, write } as const
})
