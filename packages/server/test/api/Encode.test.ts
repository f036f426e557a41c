import { Api } from "@coffer/domain/Api"
import { encoding, unfit } from "@coffer/server/http/Encode"
import { HttpApi, HttpApiSchema } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"

const answers: Array<{ readonly name: string; readonly schema: Schema.Schema<unknown, unknown> }> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group }) => {
    const schemas = new Set<Schema.Schema.Any>()
    HttpApiSchema.deunionize(schemas, endpoint.successSchema)
    for (const schema of schemas) {
      answers.push({ name: `${group.identifier} ${endpoint.name}`, schema: schema as Schema.Schema<unknown, unknown> })
    }
  }
})

const known = answers.flatMap(({ name, schema }) => {
  const encode = encoding(schema.ast)
  return encode === null ? [] : [{ name, schema, encode }]
})

describe("answers encoded by their kind", () => {
  it("are those of most calls, and of the ones that matter most", () => {
    const names = known.map(({ name }) => name)
    for (const name of ["secrets get", "secrets set", "secrets list", "environments bundle"])
      assert.include(names, name)
    assert.isAbove(known.length, answers.length / 2)
  })

  const value = Redacted.make("p&ss=w\u00f6rd")
  const at = "2026-01-31T12:00:00.000Z"
  it.each([
    ["secrets get", { key: "A", value, version: 3 }],
    ["secrets set", { key: "A", version: 1, created_at: at, updated_at: at }],
    ["secrets list", { data: [{ key: "A", version: 1, updated_at: at }] }],
    ["secrets list", { data: [] }],
    ["environments bundle", { revision: 7, data: [{ key: "A", value, version: 2, updated_at: at }] }]
  ])("are what the schema makes of them: %s %#", (name, answer) => {
    const call = known.find((each) => each.name === name) ?? assert.fail(name)
    assert.deepStrictEqual(
      JSON.stringify(call.encode(answer)),
      JSON.stringify(Schema.encodeUnknownSync(call.schema)(answer))
    )
  })

  it("have no field that the schema does not have", () => {
    const encode = encoding(Schema.Struct({ key: Schema.String }).ast)
    assert.deepStrictEqual(encode?.({ key: "A", value: "not to be told" }), { key: "A" })
  })

  it.each([
    ["a missing field", { value: Redacted.make("x") }],
    ["a field of another kind", { key: 1, value: Redacted.make("x") }],
    ["a value that is not redacted", { key: "A", value: "x" }],
    ["a redacted value of another kind", { key: "A", value: Redacted.make(1) }],
    ["no struct", null]
  ])("are left to the schema when they have %s", (_, value) => {
    const encode = encoding(Schema.Struct({ key: Schema.String, value: Schema.Redacted(Schema.String) }).ast)
    assert.strictEqual(encode?.(value), unfit)
    const many = encoding(Schema.Array(Schema.Struct({ key: Schema.String })).ast)
    assert.strictEqual(many?.([{ key: "A" }, { key: 1 }]), unfit)
  })

  it("are not tried where rules may tell which of several structs is meant", () => {
    const either = Schema.Union(Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String }))
    assert.isNull(encoding(either.ast))
  })
})
