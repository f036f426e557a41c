import { ArchivedDeclaration, archivedRecords } from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { archivedFieldNames } from "@coffer/domain/archive/Fields"
import { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import { type Schema, SchemaAST } from "effect"
import { assert, describe, it } from "vitest"

/** Fields that are not counted, and why none gets lost in silence. */
const reasons: Readonly<Record<string, string>> = {
  "rules.expires_at": "a rule may end on the way",
  "rules.key_pattern": "a server that does not know it refuses the archive",
  "rules.denies": "a server that does not know it refuses the archive",
  "webhooks.format": "every webhook has one: it is absent from archives of older servers alone",
  "versions.value": "a version has this or `destroyed_at`, never both or neither",
  "versions.destroyed_at": "a version has this or `value`, never both or neither",
  "versions.current": "every secret has one, and secrets are counted"
}

/** The record that a field is in, by the name of the list or field that holds it. */
const names: Readonly<Record<string, string>> = { current: "secrets" }

interface Found {
  readonly optional: ReadonlyArray<string>
  readonly lists: ReadonlyArray<string>
}

/** The fields that a record may lack, and its lists of records, with those of all records within. */
const fieldsOf = (record: string, ast: SchemaAST.AST): Found => {
  const encoded = SchemaAST.encodedAST(ast)
  const parts = SchemaAST.isTypeLiteral(encoded) ? encoded.propertySignatures : []
  const found = parts.map(({ isOptional, name, type }): Found => {
    const own = isOptional ? [`${record}.${String(name)}`] : []
    const inner = SchemaAST.isUnion(type) ? type.types : [type]
    const below = inner.map((part): Found => {
      const item = SchemaAST.isTupleType(part) ? part.rest[0]?.type : undefined
      const within = names[String(name)] ?? String(name)
      const isRecord = item !== undefined && SchemaAST.isTypeLiteral(item) && item.propertySignatures.length > 0
      if (isRecord && !isOptional) {
        const { lists, optional } = fieldsOf(within, item)
        return { optional, lists: [within, ...lists] }
      }
      return name in names ? fieldsOf(within, part) : { optional: [], lists: [] }
    })
    return {
      optional: [...own, ...below.flatMap(({ optional }) => optional)],
      lists: below.flatMap(({ lists }) => lists)
    }
  })
  return {
    optional: found.flatMap(({ optional }) => optional),
    lists: found.flatMap(({ lists }) => lists)
  }
}

const records: ReadonlyArray<readonly [string, Schema.Schema.AnyNoContext]> = [
  ...Object.entries(archivedRecords),
  ["declared", ArchivedDeclaration],
  ["versions", ArchivedVersion]
]

describe("the fields of an archive", () => {
  const found = records.map(([name, { ast }]) => fieldsOf(name, ast))
  const counted: ReadonlyArray<string> = archivedFieldNames

  it("are counted on both sides where a record may lack them, or have a reason not to be", () => {
    const optional = found.flatMap((record) => record.optional)
    assert.include(optional, "environments.protection")
    assert.include(optional, "secrets.owner")
    assert.deepStrictEqual(
      optional.filter((name) => !counted.includes(name) && reasons[name] === undefined),
      []
    )
    assert.deepStrictEqual(
      Object.keys(reasons).filter((name) => !optional.includes(name) || counted.includes(name)),
      []
    )
  })

  it("that are lists of records are counted", () => {
    const lists = [...Object.keys(archivedRecords), ...found.flatMap((record) => record.lists)]
    assert.include(lists, "federations")
    const kinds = [...Object.keys(ArchiveCounts.fields), ...counted]
    assert.deepStrictEqual(
      lists.filter((name) => !kinds.includes(name)),
      []
    )
  })
})
