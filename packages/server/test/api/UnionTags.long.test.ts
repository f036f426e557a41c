import { Api } from "@coffer/domain/Api"
import { HttpApi } from "@effect/platform"
import { Either, FastCheck, Option, Schema, SchemaAST } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { withPlainTags } from "../../src/http/UnionTags.js"
import { assertRefused, Program } from "../support/Program.js"
import { runs } from "../../../domain/test/support/Runs.js"

interface Payload {
  readonly call: string
  readonly schema: Schema.Schema.All
}

const payloads: Array<Payload> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }) => {
    if (Option.isSome(endpoint.payloadSchema)) {
      payloads.push({ call: `${endpoint.method} ${endpoint.path}`, schema: endpoint.payloadSchema.value })
    }
  }
})

const ofPrototype = ["toString", "valueOf", "constructor", "__proto__", "hasOwnProperty", "toJSON"]

/** The names and words of a schema, by which the toolkit tells its members apart. */
const vocabulary = (ast: SchemaAST.AST, names: Set<string>, words: Set<string>): void => {
  if (SchemaAST.isUnion(ast)) for (const type of ast.types) vocabulary(type, names, words)
  if (SchemaAST.isTupleType(ast)) for (const { type } of ast.rest) vocabulary(type, names, words)
  if (SchemaAST.isLiteral(ast)) words.add(String(ast.literal))
  if (!SchemaAST.isTypeLiteral(ast)) return
  for (const { name, type } of ast.propertySignatures) {
    names.add(String(name))
    vocabulary(type, names, words)
  }
}

/** Bodies of the schema's names, with names and words of `Object.prototype` anywhere. */
const bodies = ({ schema }: Payload) => {
  const names = new Set(ofPrototype)
  const words = new Set(ofPrototype)
  vocabulary(SchemaAST.encodedAST(schema.ast), names, words)
  const name = FastCheck.constantFrom(...names)
  const { value } = FastCheck.letrec<{ value: unknown }>((tie) => ({
    value: FastCheck.oneof(
      { depthSize: "small", withCrossShrink: true },
      FastCheck.constantFrom<unknown>(...words, 1, true, null),
      FastCheck.array(FastCheck.tuple(name, tie("value")), { maxLength: 5 }).map(
        // As a body arrives: `__proto__` is a name like any other.
        (entries) =>
          JSON.parse(
            `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`).join(",")}}`
          ) as unknown
      ),
      FastCheck.array(tie("value"), { maxLength: 2 })
    )
  }))
  // Most of the names, so that bodies get far.
  return FastCheck.record(Object.fromEntries([...names].map((key) => [key, value])), { requiredKeys: [] })
}

describe("a body with names of Object.prototype", () => {
  it.each(payloads)("is decoded or refused by $call, and nothing throws", (payload) => {
    const decode = Schema.decodeUnknownEither(payload.schema as Schema.Schema<unknown>, { onExcessProperty: "ignore" })
    const clean = withPlainTags(payload.schema.ast)
    FastCheck.assert(
      FastCheck.property(bodies(payload), (body) => {
        const decoded = decode(clean(body))
        assert.isTrue(Either.isEither(decoded))
      }),
      { numRuns: runs(300) }
    )
  })

  it("stays as it is where the toolkit converts nothing to text", () => {
    for (const { schema } of payloads) {
      const body = { set: { toString: { a: 1 } }, name: { toString: 1 }, subject_type: "user", place: { in: "query" } }
      assert.strictEqual(withPlainTags(schema.ast)(body), body)
    }
  })
})

describe("a word by which forms of a body are told apart", () => {
  let program: Program
  let token: string

  beforeAll(async () => {
    program = await Program.start()
    token = await program.login("ada@example.com")
    await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
    await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "shop" } })
    await program.call("POST", "/api/orgs/acme/projects/shop/envs", { token, body: { name: "dev" } })
    await program.call("PUT", "/api/orgs/acme/projects/shop/envs/dev/secrets/KEY", {
      token,
      body: { value: "12345678" }
    })
  })
  afterAll(async () => {
    await program.remove()
  })

  const words: ReadonlyArray<unknown> = [
    { toString: 1 },
    { toString: 1, valueOf: 2 },
    [{ toString: 1 }],
    {},
    [],
    "toString",
    "constructor",
    "__proto__"
  ]

  it.each(words.map((word) => ({ word })))("is refused if it is $word", async ({ word }) => {
    assertRefused(
      await program.call("POST", "/api/orgs/acme/acl", {
        token,
        body: { subject_type: word, email: "a@b.cc", project_pattern: "*", env_pattern: "*", permission: "read" }
      }),
      400,
      "VALIDATION_ERROR",
      /^subject_type: /
    )
    assertRefused(
      await program.call("POST", "/api/orgs/acme/projects/shop/envs/dev/secrets/KEY/use-rules", {
        token,
        body: { hosts: ["a.example.com"], paths: ["/"], place: { in: word, name: "x" }, accounts: ["ada@example.com"] }
      }),
      400,
      "VALIDATION_ERROR",
      /^place/
    )
  })
})
