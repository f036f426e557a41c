import * as Records from "effect/Record"
import type { ArchivedDeclaration, ArchivedOrganization } from "./ArchivedOrganization.js"
import type { ArchivedVersion } from "./ArchivedSecret.js"

interface Counted {
  /** An example of a count. */
  readonly example: number
  /** The plural of those that are counted; by default, the records with the field. */
  readonly of?: string
  /** How many a field of a record counts; by default one, if the record has it. */
  readonly each?: (value: unknown) => number
}

const size = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

const counted = <Name extends string>(fields: Readonly<Record<Name, Counted>>) => fields

/**
 * Fields that records have only sometimes, and records that no other number counts: one could get lost although all others are
 * there.
 */
export const archivedFields = counted({
  mappings: { example: 1, of: "groups of the provider that stand for groups" },
  "projects.order": { example: 3, of: "positions in the orders of environments", each: size },
  "projects.previews": { example: 1 },
  "environments.protection": { example: 1 },
  "environments.expires_at": { example: 1 },
  "environments.from": { example: 1 },
  "accounts.project": { example: 1 },
  "accounts.expires_in_days": { example: 2 },
  "accounts.allowed_networks": { example: 1 },
  federations: { example: 2, of: "federations of accounts" },
  "federations.expires_at": { example: 1 },
  "federations.jwks": { example: 1 },
  "federations.kid": { example: 2, of: "uploaded keys of federations that have an id" },
  "declared.required_in": { example: 12, each: (value) => Math.min(size(value), 1) },
  "declared.pattern": { example: 4 },
  "declared.description": { example: 6 },
  "declared.example": { example: 5 },
  "declared.owner": { example: 2 },
  "versions.revision": { example: 42 },
  "versions.kind": { example: 1, each: (value) => (value === "reference" ? 1 : 0) },
  "versions.note": { example: 3 },
  "secrets.expires_at": { example: 2 },
  "secrets.rotate_every_days": { example: 2 },
  "secrets.owner": { example: 2 }
})
export type ArchivedField = keyof typeof archivedFields

export const archivedFieldNames: ReadonlyArray<ArchivedField> = Records.keys(archivedFields)

/** How many records have each field. */
export type FieldCounts = Readonly<Record<ArchivedField, number>>

/** Adds up counts of fields; one that is missing is 0. */
export const totalOfFields = (counts: ReadonlyArray<Partial<FieldCounts>>): FieldCounts =>
  Records.map(archivedFields, (_field, name) => counts.reduce((total, each) => total + (each[name] ?? 0), 0))

const one = (value: unknown): number => (value === undefined ? 0 : 1)

/** Counts all fields of lists of records: a field is named by its list. */
const fieldsIn = (lists: Readonly<Record<string, ReadonlyArray<object>>>): Partial<FieldCounts> =>
  Object.fromEntries(
    archivedFieldNames.flatMap((name) => {
      const dot = name.indexOf(".")
      const records = lists[dot < 0 ? name : name.slice(0, dot)]
      if (records === undefined) return []
      const { each = one }: Counted = archivedFields[name]
      const count = dot < 0 ? () => 1 : (record: object) => each(Reflect.get(record, name.slice(dot + 1)))
      return [[name, records.reduce((total, record) => total + count(record), 0)]]
    })
  )

/** Counts the fields of a structure. */
export const fieldsOfOrganization = ({ accounts, mappings, projects }: ArchivedOrganization): Partial<FieldCounts> => {
  const environments = projects.flatMap((project) => project.environments)
  const federations = accounts.flatMap((account) => account.federations)
  const keys = federations.flatMap(({ jwks }) => jwks?.keys ?? [])
  return {
    ...fieldsIn({ mappings, projects, environments, accounts, federations }),
    "federations.kid": keys.filter(({ kid }) => kid !== undefined).length
  }
}

/** Counts the fields of what a project declares. */
export const fieldsOfDeclarations = (declared: ReadonlyArray<ArchivedDeclaration>): Partial<FieldCounts> =>
  fieldsIn({ declared })

/** Counts the fields of versions and of their secrets. */
export const fieldsOfVersions = (versions: ReadonlyArray<ArchivedVersion>): Partial<FieldCounts> =>
  fieldsIn({ versions, secrets: versions.flatMap(({ current }) => current ?? []) })
