import type { ArchivedDeclarations, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import type { EnvName, ProjectName } from "@coffer/domain/Names"

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
}

export const tallyOf = ({ data }: ArchivedVersions): Tally => ({
  secrets: data.filter(({ current }) => current !== undefined).length,
  versions: data.length,
  use_rules: data.reduce((sum, { current }) => sum + (current?.use_rules.length ?? 0), 0)
})

const none: Tally = { secrets: 0, versions: 0, use_rules: 0 }

export const totalOf = (tallies: ReadonlyArray<Tally>): Tally =>
  tallies.reduce(
    (sum, { secrets, use_rules, versions }) => ({
      secrets: sum.secrets + secrets,
      versions: sum.versions + versions,
      use_rules: sum.use_rules + use_rules
    }),
    none
  )

/** Counts the records of an archive. */
export const countsOf = (
  { accounts, groups, members, projects, rules, webhooks }: ArchivedOrganization,
  declarations: ReadonlyArray<ArchivedDeclarations>,
  tallies: ReadonlyArray<Tally>
): ArchiveCounts => ({
  projects: projects.length,
  environments: projects.reduce((sum, { environments }) => sum + environments.length, 0),
  ...totalOf(tallies),
  declared: declarations.reduce((sum, { data }) => sum + data.length, 0),
  members: members.length,
  groups: groups.length,
  accounts: accounts.length,
  rules: rules.length,
  webhooks: webhooks.length
})

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

/** The kinds of records whose numbers differ. */
export const differing = (some: ArchiveCounts, others: ArchiveCounts): ReadonlyArray<keyof ArchiveCounts> =>
  kinds.filter((kind) => some[kind] !== others[kind])
