import type { ArchivedDeclaration, ArchivedOrganization } from "./ArchivedOrganization.js"
import type { ArchivedVersion } from "./ArchivedSecret.js"

/** Fields that records have only sometimes, and records that no other number counts: one could get lost although all others are there. */
export const archivedFields = [
  "mappings",
  "projects.order",
  "projects.previews",
  "environments.protection",
  "environments.expires_at",
  "environments.from",
  "accounts.project",
  "accounts.expires_in_days",
  "accounts.allowed_networks",
  "federations",
  "federations.expires_at",
  "federations.jwks",
  "federations.kid",
  "declared.required_in",
  "declared.pattern",
  "declared.description",
  "declared.example",
  "declared.owner",
  "versions.revision",
  "versions.kind",
  "versions.note",
  "secrets.expires_at",
  "secrets.rotate_every_days",
  "secrets.owner"
] as const
export type ArchivedField = (typeof archivedFields)[number]

/** How many records have each field. */
export type FieldCounts = Readonly<Record<ArchivedField, number>>

/** Adds up counts of fields; one that is missing is 0. */
export const totalOfFields = (counts: ReadonlyArray<Partial<FieldCounts>>): FieldCounts => {
  const sum = (name: ArchivedField) => counts.reduce((total, each) => total + (each[name] ?? 0), 0)
  return {
    mappings: sum("mappings"),
    "projects.order": sum("projects.order"),
    "projects.previews": sum("projects.previews"),
    "environments.protection": sum("environments.protection"),
    "environments.expires_at": sum("environments.expires_at"),
    "environments.from": sum("environments.from"),
    "accounts.project": sum("accounts.project"),
    "accounts.expires_in_days": sum("accounts.expires_in_days"),
    "accounts.allowed_networks": sum("accounts.allowed_networks"),
    federations: sum("federations"),
    "federations.expires_at": sum("federations.expires_at"),
    "federations.jwks": sum("federations.jwks"),
    "federations.kid": sum("federations.kid"),
    "declared.required_in": sum("declared.required_in"),
    "declared.pattern": sum("declared.pattern"),
    "declared.description": sum("declared.description"),
    "declared.example": sum("declared.example"),
    "declared.owner": sum("declared.owner"),
    "versions.revision": sum("versions.revision"),
    "versions.kind": sum("versions.kind"),
    "versions.note": sum("versions.note"),
    "secrets.expires_at": sum("secrets.expires_at"),
    "secrets.rotate_every_days": sum("secrets.rotate_every_days"),
    "secrets.owner": sum("secrets.owner")
  }
}

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
