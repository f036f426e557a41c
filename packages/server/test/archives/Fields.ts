import { ArchivedDeclaration, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { ArchiveManifest } from "@coffer/domain/archive/Manifest"
import { Predicate, Schema, type SchemaAST } from "effect"
import type { Archive } from "./Support.js"

const below = (path: string, name: string) => (path === "" ? name : `${path}.${name}`)

/** The paths of all fields that hold no further ones, those in lists too. */
const leavesOf = (ast: SchemaAST.AST, path: string): ReadonlyArray<string> => {
  const parts =
    ast._tag === "Union"
      ? ast.types
      : ast._tag === "TupleType"
        ? ast.rest.map(({ type }) => type)
        : ast._tag === "Refinement"
          ? [ast.from]
          : []
  const found =
    ast._tag === "TypeLiteral"
      ? ast.propertySignatures.flatMap(({ name, type }) => leavesOf(type, below(path, String(name))))
      : parts.flatMap((part) => leavesOf(part, path))
  return found.length === 0 ? [path] : [...new Set(found)]
}

const encoded = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.encodedSchema(schema).ast

/** The fields of archives, by their paths from the lists of a structure, from declarations, versions and the manifest on. */
export const fields = [
  ...leavesOf(encoded(ArchivedOrganization), ""),
  ...leavesOf(encoded(ArchivedDeclaration), "declared"),
  ...leavesOf(encoded(ArchivedVersion), "versions"),
  ...leavesOf(encoded(ArchiveManifest.pick("organization")), "manifest")
]

export const isWithin = (path: string, outer: string) => path === outer || path.startsWith(`${outer}.`)

const pathsIn = (value: unknown, path: string): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap((item: unknown) => pathsIn(item, path))
    : Predicate.isRecord(value)
      ? Object.entries(value).flatMap(([name, field]) => pathsIn(field, below(path, name)))
      : [path]

/** The fields that no record of an archive has. */
export const missingIn = ({ declared, structure, versions }: Archive): ReadonlyArray<string> => {
  const found = new Set([
    ...pathsIn(structure.organization, ""),
    ...pathsIn(Object.values(declared), "declared"),
    ...pathsIn(Object.values(versions), "versions"),
    "manifest.organization"
  ])
  return fields.filter((field) => ![...found].some((path) => isWithin(path, field)))
}
