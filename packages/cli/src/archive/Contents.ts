import type { ArchivedDeclarations, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import {
  archivedFieldNames,
  type FieldCounts,
  fieldsOfDeclarations,
  fieldsOfOrganization,
  fieldsOfVersions,
  totalOfFields
} from "@coffer/domain/archive/Fields"
import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import type { EnvName, ProjectName } from "@coffer/domain/base/Names"

/** The largest archive before it is encrypted, in bytes. It is made and read in memory: no disk holds a value in the clear. */
export const maxArchiveBytes = 512 * 1024 * 1024

export const manifestName = "coffer.json"
export const organizationName = "organization.json"

/** An environment. */
export interface Place {
  readonly project: ProjectName
  readonly env: EnvName
}

export const nameOf = ({ env, project }: Place): string => `${project}/${env}`

/** How many records of each kind a file with versions holds. */
export interface Tally {
  readonly secrets: number
  readonly versions: number
  readonly use_rules: number
  readonly fields: Partial<FieldCounts>
}

export const tallyOf = ({ data }: ArchivedVersions): Tally => ({
  secrets: data.filter(({ current }) => current !== undefined).length,
  versions: data.length,
  use_rules: data.reduce((sum, { current }) => sum + (current?.use_rules.length ?? 0), 0),
  fields: fieldsOfVersions(data)
})

const none: Tally = { secrets: 0, versions: 0, use_rules: 0, fields: {} }

export const totalOf = (tallies: ReadonlyArray<Tally>): Tally =>
  tallies.reduce(
    (sum, { fields, secrets, use_rules, versions }) => ({
      secrets: sum.secrets + secrets,
      versions: sum.versions + versions,
      use_rules: sum.use_rules + use_rules,
      fields: totalOfFields([sum.fields, fields])
    }),
    none
  )

/** Counts the records of an archive. */
export const countsOf = (
  organization: ArchivedOrganization,
  declarations: ReadonlyArray<ArchivedDeclarations>,
  tallies: ReadonlyArray<Tally>
): ArchiveCounts => {
  const { accounts, groups, members, projects, rules, webhooks } = organization
  const { fields, ...total } = totalOf(tallies)
  return {
    projects: projects.length,
    environments: projects.reduce((sum, { environments }) => sum + environments.length, 0),
    ...total,
    declared: declarations.reduce((sum, { data }) => sum + data.length, 0),
    members: members.length,
    groups: groups.length,
    accounts: accounts.length,
    rules: rules.length,
    webhooks: webhooks.length,
    fields: totalOfFields([
      fields,
      fieldsOfOrganization(organization),
      ...declarations.map(({ data }) => fieldsOfDeclarations(data))
    ])
  }
}

const kinds = [
  "projects",
  "environments",
  "secrets",
  "versions",
  "use_rules",
  "declared",
  "members",
  "groups",
  "accounts",
  "rules",
  "webhooks"
] as const

/** A kind of records, or of their fields, whose number differs. */
interface Difference {
  readonly name: string
  readonly numbers: readonly [number, number]
}

/** Returns the counts that differ. Older servers and archives do not count fields. */
export const differing = (some: ArchiveCounts, others: ArchiveCounts): ReadonlyArray<Difference> => {
  const [fields, otherFields] = [some.fields, others.fields]
  const ofFields =
    fields === undefined || otherFields === undefined
      ? []
      : archivedFieldNames.map((name): Difference => ({ name, numbers: [fields[name], otherFields[name]] }))
  return [...kinds.map((name): Difference => ({ name, numbers: [some[name], others[name]] })), ...ofFields].filter(
    ({ numbers: [one, other] }) => one !== other
  )
}
