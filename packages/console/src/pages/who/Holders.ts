import { type AccessHolder, type HolderPage, holderKinds } from "@coffer/domain/access/AccessHolder"
import { holderName, type PlaceHolders } from "@coffer/domain/access/HolderCsv"
import type { Permission } from "@coffer/domain/access/AclRule"
import { defined } from "@coffer/domain/base/Defined"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { environmentNames } from "../../client/Environments.js"

/** Those of further environments are not read. */
export const maxColumns = 12
/** More of an environment are not read. */
const maxHolders = 1_000

/** An environment with those who have the permission there. */
export interface Column extends PlaceHolders {
  readonly superadmins: number
  readonly reviewed: HolderPage["reviewed"]
  /** Whether there are more. */
  readonly isCut: boolean
}

export interface Row {
  readonly id: string
  readonly kind: AccessHolder["kind"]
  readonly name: string
  /** One for each column. */
  readonly cells: ReadonlyArray<AccessHolder | undefined>
}

export interface Found {
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<Row>
  /** How many environments the project has. */
  readonly environments: number
}

const readColumn = Effect.fnUntraced(function* (
  org: OrgName,
  project: ProjectName,
  env: EnvName,
  permission: Permission
) {
  const path = { org_name: org, project_name: project, env_name: env }
  const holders: Array<AccessHolder> = []
  let first: HolderPage | undefined
  let after: string | null | undefined
  while (after !== null && holders.length < maxHolders) {
    const urlParams = { permission, limit: maxPageSize, ...defined({ after }) }
    const page: HolderPage = yield* call("acl", (api) => api.who({ path, urlParams }))
    first ??= page
    holders.push(...page.data)
    after = page.pagination.next_cursor
  }
  const { reviewed, superadmins = 0 } = first ?? {}
  return { project, env, holders, superadmins, reviewed, isCut: after !== null } satisfies Column
})

/** People first, then machines and groups, by name. */
const kinds: ReadonlyArray<string> = [...holderKinds].reverse()

const rowsOf = (columns: ReadonlyArray<Column>): ReadonlyArray<Row> => {
  const cells = columns.map(({ holders }) => new Map(holders.map((holder) => [String(holder.id), holder])))
  const all = new Map(columns.flatMap(({ holders }) => holders.map((holder) => [String(holder.id), holder])))
  return [...all]
    .map(([id, holder]) => ({
      id,
      kind: holder.kind,
      name: holderName(holder),
      cells: cells.map((column) => column.get(id))
    }))
    .sort((one, other) =>
      one.kind === other.kind ? one.name.localeCompare(other.name) : kinds.indexOf(one.kind) - kinds.indexOf(other.kind)
    )
}

/** Reads who has a permission in the environments of a project. */
export const readHolders = (org: OrgName, project: ProjectName, permission: Permission) =>
  Effect.gen(function* () {
    const names = yield* environmentNames(org, project)
    const columns = yield* Effect.forEach(
      names.slice(0, maxColumns),
      (env) => readColumn(org, project, env, permission),
      { concurrency: 3 }
    )
    return { columns, rows: rowsOf(columns), environments: names.length } satisfies Found
  })
