import { Api } from "@coffer/domain/Api"
import { namingFields } from "@coffer/server/directory/requests/NamedIds"
import { HttpApi } from "@effect/platform"
import { Option, type Schema, type SchemaAST } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { machines } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { startWorld, type World } from "./World.js"

// People vote on what a call meant when it was asked for: whatever has its names by the last vote is nothing they have seen.

/** Fields of the calls that pass the gate that need no id, each with its reason. Fields below one are covered by it. */
const needNoId: Readonly<Record<string, string>> = {
  "path.project_name": "the environment that the change enters is compared by id",
  "path.env_name": "the environment that the change enters is compared by id",
  "path.key": "the secret that the change touches is compared by id: see the test below",
  "path.use_rule_id": "is an id",
  "path.connection_name": "the connection is of the environment, and goes with what uses it",
  "path.target_name": "names a target, which a call removes or not: a new one of the name is another push",
  "path.removed_id": "is an id",
  ...Object.fromEntries(
    ["host", "port", "database", "tls", "ca", "user"].map((name) => [`payload.${name}`, "names nothing of Coffer's"])
  ),
  "path.rotation_name": "the rotation is of the environment, and its name is its own",
  "path.role_name": "the role is of the environment, and its name is its own",
  ...Object.fromEntries(
    ["create", "revoke", "default_ttl", "max_ttl"].map((name) => [`payload.${name}`, "names nothing of Coffer's"])
  ),
  "payload.connection": "the connection is of the environment, and goes only when nothing uses it",
  "payload.users": "are users of another database",
  "payload.writes": "are keys of secrets of the environment, which the rotation owns from then on",
  ...Object.fromEntries(
    ["every", "window", "length", "alphabet", "paused", "automatic"].map((name) => [`payload.${name}`, "names nothing"])
  ),
  "payload.password_key": "is stored as a key: whoever may write that secret decides what the server logs in with",
  "payload.keys": "the secrets that the change touches are compared by id, and the values that move to them",
  "payload.set": "the secrets that the change touches are compared by id",
  "payload.delete": "the secrets that the change touches are compared by id",
  "payload.references": "is stored as text: what it leads to may change without votes, as the request says",
  "payload.credential_key": "names a secret, which is read when it is used",
  "payload.owner": "is stored as an address, of somebody who needs no account",
  "payload.name": "is a new name",
  "payload.version": "is a number of the secret's, which is compared",
  "payload.versions": "are numbers of the secret's, which is compared",
  "payload.to": "is a revision of the environment's, which is compared",
  "payload.expected_version": "is compared by the call itself",
  "headers.if-match": "is compared by the call itself",
  ...Object.fromEntries(
    [
      ...[
        "value",
        "kind",
        "note",
        "dry_run",
        "strict",
        "passkey_recovery",
        "unused_access_mail",
        "expires_at",
        "rotate_every_days"
      ],
      ...[
        "kind",
        "prefix",
        "rename",
        "remove",
        "hosts",
        "methods",
        "paths",
        "place",
        "per_minute",
        "per_day",
        "response",
        "max_kib",
        "approval"
      ],
      ...["needed", "self", "expires_after", "passkey"]
    ].map((field) => [`payload.${field}`, "names nothing of the organization"])
  ),
  "payload.force": "names nothing",
  "urlParams.force": "names nothing",
  "urlParams.expected_version": "is compared by the call itself"
}

const known = new Set([
  ...Object.keys(needNoId),
  ...Object.entries(namingFields).flatMap(([part, fields]) => Object.keys(fields).map((field) => `${part}.${field}`))
])

/** The paths of the fields of a schema, without those below a known one. */
const fieldsOf = (ast: SchemaAST.AST, at: string): ReadonlyArray<string> => {
  if (known.has(at)) return [at]
  switch (ast._tag) {
    case "TypeLiteral":
      return ast.propertySignatures.flatMap(({ name, type }) => fieldsOf(type, `${at}.${String(name)}`))
    case "Refinement":
      return fieldsOf(ast.from, at)
    case "Transformation":
      return fieldsOf(ast.to, at)
    case "Union":
      return ast.types.flatMap((type) => fieldsOf(type, at))
    case "Suspend":
      return fieldsOf(ast.f(), at)
    default:
      return [at]
  }
}

interface Gated {
  readonly call: string
  readonly path: string
  readonly fields: ReadonlyArray<string>
}

/** The calls that become requests, by their response of 202. */
const gated = (): ReadonlyArray<Gated> => {
  const found: Array<Gated> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, group }) => {
      if (!errors.has(202)) return
      const parts: ReadonlyArray<readonly [string, Option.Option<Schema.Schema.All>]> = [
        ["path", endpoint.pathSchema],
        ["urlParams", endpoint.urlParamsSchema],
        ["headers", endpoint.headersSchema],
        ["payload", endpoint.payloadSchema]
      ]
      found.push({
        call: `${group.identifier}.${endpoint.name}`,
        path: endpoint.path,
        fields: parts.flatMap(([part, schema]) =>
          Option.match(schema, { onNone: () => [], onSome: ({ ast }) => fieldsOf(ast, part) })
        )
      })
    }
  })
  return found
}

describe("a call that needs votes", () => {
  const calls = gated()

  it("has no field that names something and is not resolved to an id", () => {
    assert.isAbove(calls.length, 20)
    const unknown = calls.flatMap(({ call, fields }) =>
      fields.filter((field) => !known.has(field)).map((field) => `${call}: ${field}`)
    )
    assert.deepStrictEqual(unknown, [], "say what the field names in NamedIds.ts, or here why it needs no id")
  })

  it("has each field that the table knows", () => {
    const fields = new Set(calls.flatMap((call) => call.fields))
    assert.deepStrictEqual(
      [...known].filter((field) => !fields.has(field)),
      []
    )
  })
})

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe("a request", () => {
  const rule = {
    hosts: ["api.example.com"],
    paths: ["/v1/*"],
    place: { in: "header", name: "authorization", format: "Bearer {}" }
  }

  it("for a use rule is not for another account that has the name by the last vote", async () => {
    const { call, first, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, org, owner, prod } = one
    const rules = `${prod}/secrets/A/use-rules`
    const create = () => first.asRoot("POST", `${org}/service-accounts`, { name: "botx" })
    const { id } = await create()
    const accounts = { ...rule, accounts: ["botx"] }
    const [kept, replaced] = [
      await propose(owner.headers, "POST", rules, accounts),
      await propose(owner.headers, "POST", rules, { ...accounts, paths: ["/v2/*"] })
    ]
    const { state } = (await vote(one, admin.headers, kept.id)).body
    assert.strictEqual(state, "done")
    const [made] = (await call(owner.headers, "GET", rules)).body.data
    const update = await propose(owner.headers, "PATCH", `${rules}/${made.id}`, { accounts: ["botx"] })
    await first.asRoot("DELETE", `${org}/service-accounts/${id}`)
    const { api_key } = await create()
    for (const request of [replaced, update]) {
      const answer = await vote(one, admin.headers, request.id)
      assert.strictEqual(answer.status, 409, JSON.stringify(answer.body))
      assert.include(answer.body.error.message, "botx is another one than when it was asked for")
      assert.strictEqual((await call(owner.headers, "GET", `${org}/requests/${request.id}`)).body.state, "outdated")
    }
    // The namesake has nothing.
    const used = await call(machines(api_key), "POST", `${prod}/use`, { key: "A", url: "https://api.example.com/v1/x" })
    assert.include([403, 404], used.status, JSON.stringify(used.body))
  })

  it("for a copy is not from another environment that has the name by the last vote", async () => {
    const { call, first, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, owner, prod, project } = one
    const source = `${project}/envs/source`
    const make = async () => {
      await first.asRoot("POST", `${project}/envs`, { name: "source" })
      await first.asRoot("PUT", `${source}/secrets/B`, { value: "copied" })
    }
    await make()
    const { id } = await propose(owner.headers, "POST", `${prod}/copy`, { from: "source" })
    await first.asRoot("DELETE", source)
    await make()
    const { body } = await vote(one, admin.headers, id)
    assert.include(body.error.message, "environment source is another one")
    assert.strictEqual((await call(owner.headers, "GET", `${prod}/secrets/B`)).status, 404)
  })

  it("of an organization ends clearly when another organization has the name by the last vote", async () => {
    const { call, propose, protectedOne, vote } = world
    const one = await protectedOne()
    const { admin, org, other, owner, prod } = one
    const name = org.slice("/api/orgs/".length)
    const asked = await propose(owner.headers, "PUT", `${prod}/secrets/A`, { value: "two" })
    const renamed = await propose(owner.headers, "PATCH", org, { name: `${name}-new` })
    assert.strictEqual((await vote(one, admin.headers, renamed.id)).body.state, "done")
    const moved = { ...one, org: `${org}-new` }
    const late = await vote(moved, other.headers, asked.id)
    assert.strictEqual(late.status, 409)
    assert.include(late.body.error.message, `organization ${name} does not exist any more`)
    const again: Json = await propose(owner.headers, "PUT", `${moved.org}/projects/webshop/envs/prod/secrets/A`, {
      value: "2"
    })
    assert.strictEqual((await vote(moved, other.headers, again.id)).body.state, "done")
    assert.strictEqual((await call(owner.headers, "GET", org)).status, 404)
  })
})
