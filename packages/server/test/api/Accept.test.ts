import { Api } from "@coffer/domain/Api"
import { accepting } from "@coffer/server/http/Accept"
import { HttpApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import fc from "fast-check"

const asked: Array<{ readonly name: string; readonly ast: SchemaAST.AST }> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group }) => {
    const parts = { path: endpoint.pathSchema, query: endpoint.urlParamsSchema, body: endpoint.payloadSchema }
    for (const [part, schema] of Object.entries(parts)) {
      if (Option.isSome(schema))
        asked.push({ name: `${group.identifier} ${endpoint.name} ${part}`, ast: schema.value.ast })
    }
  }
})

const known = asked.flatMap(({ ast, name }) => {
  const accept = accepting(ast)
  return accept === null
    ? []
    : [{ name, accept, decode: ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast)) }]
})

const fieldNames = ["org_name", "project_name", "env_name", "key", "version", "value", "__proto__", "other"]
const texts = fc.oneof(
  fc.constantFrom("acme", "web", "prod", "DATABASE_URL", "3", "", "A_", "-a", "Acme", "toString"),
  fc.string({ unit: "binary", maxLength: 60 })
)
const values = fc.oneof(
  fc.dictionary(fc.constantFrom(...fieldNames), fc.oneof(texts, fc.integer()), {
    maxKeys: 5
  }),
  fc.record({ org_name: texts, project_name: texts, env_name: texts, key: texts }),
  fc.anything()
)

describe("what is accepted as it is", () => {
  it("are the names of every path, and a query that asks for nothing", () => {
    const names = known.map(({ name }) => name)
    for (const { name } of asked) if (name.endsWith(" path") && name.includes("secrets")) assert.include(names, name)
    const path = known.find(({ name }) => name === "secrets get path") ?? assert.fail()
    assert.isTrue(path.accept({ org_name: "acme", project_name: "web", env_name: "prod", key: "A" }))
    const query = known.find(({ name }) => name === "secrets get query") ?? assert.fail()
    assert.isTrue(query.accept({}))
    assert.isFalse(query.accept({ version: "3" }))
  })

  it("is what its schema makes of it, for every call", () => {
    let accepted = 0
    fc.assert(
      fc.property(values, fc.constantFrom(...known), (value, { accept, decode }) => {
        if (!accept(value)) return
        accepted++
        assert.deepStrictEqual(decode(value), Either.right(value))
      }),
      { numRuns: 5_000 }
    )
    assert.isAbove(accepted, 50)
  })

  it.each([
    ["a missing field", {}],
    ["a field too many", { key: "A", other: "A" }],
    ["a field that breaks its rule", { key: "-" }],
    ["a field of another kind", { key: 1 }],
    ["an inherited field", Object.create({ key: "A" })],
    ["no struct", null],
    ["a list", ["A"]]
  ])("is nothing with %s", (_, value) => {
    const accept = accepting(Schema.Struct({ key: Schema.String.pipe(Schema.pattern(/^[A-Z]$/)) }).ast)
    assert.isTrue(accept?.({ key: "A" }))
    assert.isFalse(accept?.(value))
  })

  it("is not known of a schema that makes something else of a value", () => {
    assert.isNull(accepting(Schema.Struct({ version: Schema.NumberFromString }).ast))
    assert.isNull(accepting(Schema.Struct({ version: Schema.optionalWith(Schema.String, { default: () => "1" }) }).ast))
    assert.isNull(accepting(Schema.Record({ key: Schema.String, value: Schema.String }).ast))
  })
})
