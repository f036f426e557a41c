import * as Records from "effect/Record"
import type { ArchivedDeclaration, ArchivedOrganization } from "./ArchivedOrganization.js"
import type { ArchivedVersion } from "./ArchivedSecret.js"

interface Counted {
  /** An example of a count. */
  readonly example: number
  /** The plural of those that are counted; by default, the records with the field. */
  readonly of?: string
}

const counted = <Name extends string>(fields: Readonly<Record<Name, Counted>>) => fields

/**
 * Fields that records have only sometimes, and records that no other number counts: one could get lost although all others are
 * there.
 */
export const archivedFields = counted({
  mappings: { example: 1, of: "groups of the provider that stand for groups" },
  "projects.order": { example: 3, of: "positions in the orders of environments" },
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
  "declared.required_in": { example: 12 },
  "declared.pattern": { example: 4 },
  "declared.description": { example: 6 },
  "declared.example": { example: 5 },
  "declared.owner": { example: 2 },
  "versions.revision": { example: 42 },
  "versions.kind": { example: 1 },
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

const having = <A>(records: ReadonlyArray<A>, has: (record: A) => boolean): number => records.filter(has).length

/** Counts the fields of a structure. Positions of an order and ids of keys count each. */
export const fieldsOfOrganization = ({ accounts, mappings, projects }: ArchivedOrganization): Partial<FieldCounts> => {
  const environments = projects.flatMap((project) => project.environments)
  const federations = accounts.flatMap((account) => account.federations)
  const keys = federations.flatMap(({ jwks }) => jwks?.keys ?? [])
  return {
    mappings: mappings.length,
    "projects.order": projects.reduce((total, { order = [] }) => total + order.length, 0),
    "projects.previews": having(projects, ({ previews }) => previews !== undefined),
    "environments.protection": having(environments, ({ protection }) => protection !== undefined),
    "environments.expires_at": having(environments, ({ expires_at }) => expires_at !== undefined),
    "environments.from": having(environments, ({ from }) => from !== undefined),
    "accounts.project": having(accounts, ({ project }) => project !== undefined),
    "accounts.expires_in_days": having(accounts, ({ expires_in_days }) => expires_in_days !== undefined),
    "accounts.allowed_networks": having(accounts, ({ allowed_networks }) => allowed_networks !== undefined),
    federations: federations.length,
    "federations.expires_at": having(federations, ({ expires_at }) => expires_at !== undefined),
    "federations.jwks": having(federations, ({ jwks }) => jwks !== undefined),
    "federations.kid": having(keys, ({ kid }) => kid !== undefined)
  }
}

/** Counts the fields of what a project declares. */
export const fieldsOfDeclarations = (data: ReadonlyArray<ArchivedDeclaration>): Partial<FieldCounts> => ({
  "declared.required_in": having(data, ({ required_in = [] }) => required_in.length > 0),
  "declared.pattern": having(data, ({ pattern }) => pattern !== undefined),
  "declared.description": having(data, ({ description }) => description !== undefined),
  "declared.example": having(data, ({ example }) => example !== undefined),
  "declared.owner": having(data, ({ owner }) => owner !== undefined)
})

/** Counts the fields of versions and of their secrets. */
export const fieldsOfVersions = (data: ReadonlyArray<ArchivedVersion>): Partial<FieldCounts> => ({
  "versions.revision": having(data, ({ revision }) => revision !== undefined),
  "versions.kind": having(data, ({ kind }) => kind === "reference"),
  "versions.note": having(data, ({ note }) => note !== undefined),
  "secrets.expires_at": having(data, ({ current }) => current?.expires_at !== undefined),
  "secrets.rotate_every_days": having(data, ({ current }) => current?.rotate_every_days !== undefined),
  "secrets.owner": having(data, ({ current }) => current?.owner !== undefined)
})
