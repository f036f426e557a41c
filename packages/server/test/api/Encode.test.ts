import { Api } from "@coffer/domain/Api"
import { encoding, unfit } from "@coffer/server/http/Encode"
import { HttpApi, HttpApiSchema } from "@effect/platform"
import { AuditPage } from "@coffer/domain/AuditEntry"
import { Bundle } from "@coffer/domain/Secret"
import { answering } from "@coffer/server/http/Answer"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Redacted, Schema } from "effect"

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

describe("answers of many records", () => {
  const at = "2026-01-31T12:00:00.000Z"
  const secret = (index: number) => ({
    ...{ key: `KEY_${index}`, version: 3, updated_at: at },
    value: Redacted.make(`"data":[] € ${index}`)
  })
  const entry = (index: number) => ({
    ...{
      id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      seq: index,
      actor_type: "user",
      actor_id: null,
      actor_name: "ada"
    },
    ...{
      action: "secret.read",
      resource_type: "env",
      resource_id: null,
      org_id: null,
      ip_address: null,
      created_at: at
    },
    metadata: { keys: [{ key: `KEY_${index}`, version: 1 }] }
  })
  const pagination = { total: 9, limit: 9, has_next: true, next_cursor: 'x"data":[]' }

  const bytesOf = (schema: Schema.Schema.Any, answer: unknown) =>
    Effect.map(answering(schema)(answer), ({ body }) =>
      body._tag === "Uint8Array"
        ? Buffer.from(body.body).toString()
        : body._tag === "Raw"
          ? String(body.body)
          : body._tag
    )

  it.effect.each([0, 1, 2, 99, 100, 101, 2_000])("are the same text as of few: %i", (count) =>
    Effect.gen(function* () {
      for (const [schema, answer] of [
        [Bundle, { revision: 7, data: Array.makeBy(count, secret).slice(0, count) }],
        [AuditPage, { data: Array.makeBy(count, entry).slice(0, count), pagination }]
      ] as const) {
        const wanted: unknown = Schema.encodeUnknownSync(schema as Schema.Schema<unknown, unknown>)(answer)
        assert.strictEqual(yield* bytesOf(schema, answer), JSON.stringify(wanted))
      }
    })
  )

  it.effect("fail when a record does not fit", () =>
    Effect.gen(function* () {
      const data = [...Array.makeBy(200, secret), { key: "A" }]
      const failed = yield* Effect.either(bytesOf(Bundle, { revision: 7, data }))
      assert.strictEqual(failed._tag, "Left")
    })
  )
})
