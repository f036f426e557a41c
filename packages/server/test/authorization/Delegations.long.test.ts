import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { type About, endpoints, type Place, requestOf } from "./Contract.js"
import { type Pair, startPair } from "./Pair.js"
import { sceneSettings } from "./Scene.js"
import { people, word } from "./Service.js"

// A delegation gives its person's current rights within its scope, and nothing that is not listed here.

let pair: Pair

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_VAULT_API: "1" })
})

afterAll(async () => {
  await pair.stop()
})

type Headers = Readonly<Record<string, string>>

/** A place with secrets, and a person there with a role, who delegates. */
const scene = async (role = "owner") => {
  const org_name = `org-${word()}`
  const org = `/api/orgs/${org_name}`
  await pair.first.asRoot("POST", "/api/orgs", { name: org_name })
  await pair.first.asRoot("POST", `${org}/projects`, { name: "webshop" })
  const prod = `${org}/projects/webshop/envs/prod`
  for (const value of ["one", "two"]) await pair.first.asRoot("PUT", `${prod}/secrets/SHARED`, { value })
  await pair.first.asRoot("PUT", `${prod}/secrets/OTHER`, { value: "of another key" })
  await pair.first.asRoot("PUT", `${prod}/secrets/THROUGH`, { value: "x${OTHER}", kind: "reference" })
  await pair.first.asRoot("PUT", `${org}/projects/webshop/envs/staging/secrets/SHARED`, { value: "three" })
  const address = `${word()}@example.com`
  const person = await pair.first.person(email(address))
  await pair.first.asRoot("POST", `${org}/members`, { email: address, role })
  const delegated = (fields: object = {}): Promise<Json> =>
    pair.first.do(person.headers, "POST", "/api/auth/delegations", {
      name: "claude",
      org: org_name,
      project: "webshop",
      env: "prod",
      permission: "write",
      expires_in: 3600,
      ...fields
    })
  const delegate = async (fields: object = {}) => people((await delegated(fields)).token)
  return { org, org_name, prod, person, address, delegated, delegate }
}

const send = async (headers: Headers, method: string, path: string, body?: unknown) => {
  const { status, text } = await pair.second.send({ method, path, headers, body })
  const json: Json = text.startsWith("{") ? JSON.parse(text) : undefined
  return { status, text, message: json?.error?.message as string | undefined, body: json }
}
const statusOf = async (...call: Parameters<typeof send>) => (await send(...call)).status

const env = "/api/orgs/:org_name/projects/:project_name/envs/:env_name"
const secret = `${env}/secrets/:key`

/** All that a delegation may call with a credential. Those of `whole` not if it is limited to keys. */
const any = [
  "GET /api/server",
  "GET /api/auth/me",
  "GET /api/orgs/:org_name/acl/explain",
  "POST /api/orgs/:org_name/requests",
  "GET /api/orgs/:org_name/requests",
  "GET /api/orgs/:org_name/requests/:request_id",
  "POST /api/orgs/:org_name/requests/:request_id/withdraw",
  `GET ${env}/bundle`,
  `PATCH ${env}/bundle`,
  `GET ${env}/secrets`,
  `GET ${env}/uses`,
  `POST ${env}/use`,
  `GET ${secret}`,
  `PUT ${secret}`,
  `PATCH ${secret}`,
  `DELETE ${secret}`,
  `GET ${secret}/versions`,
  `POST ${secret}/rollback`,
  `POST ${secret}/undelete`
]
const whole = [
  `GET ${env}/check`,
  `GET ${env}/revisions`,
  `POST ${env}/revert`,
  `GET ${secret}/references`,
  `POST ${env}/roles/:role_name/leases`,
  `GET ${env}/leases`,
  `POST ${env}/leases/:lease_id/renew`,
  `DELETE ${env}/leases/:lease_id`
]

describe("a delegation of an owner who is a superadmin too", () => {
  it("is refused every call of the contract but those listed, whatever its person may do", async () => {
    const { address, delegate, org_name, person } = await scene()
    await pair.first.setSuperadmins(email(address))
    const place: Place = {
      org_name,
      project_name: "webshop",
      env_name: "prod",
      group_name: "ops",
      key: "SHARED",
      user_id: person.id,
      rule_id: person.id,
      sa_id: person.id,
      federation_id: person.id,
      webhook_id: person.id,
      delivery_id: person.id,
      use_rule_id: person.id,
      connection_name: "shop-db",
      rotation_name: "shop-app",
      role_name: "shop-role",
      lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
      target_name: "target",
      approval_id: person.id,
      request_id: person.id,
      session_id: person.id,
      delegation_id: person.id,
      passkey_id: person.id,
      export_id: person.id,
      import_id: person.id,
      removed_id: person.id,
      backup_id: person.id
    }
    const about: About = {
      place,
      fresh: word(),
      self: { subject_type: "user", email: address },
      patterns: { project_pattern: "webshop", env_pattern: "prod" }
    }
    const asked = endpoints.filter(({ requires }) => requires !== "nothing")
    const admitted = async (headers: Headers) => {
      const found: Array<string> = []
      for (const endpoint of asked) {
        const { body, method, path } = requestOf(endpoint, about)
        const { message, status, text } = await send(headers, method, path, body)
        assert.notInclude([401, 500], status, `${endpoint.call}: ${text}`)
        if (status === 403 && /delegation/.test(message ?? "")) continue
        found.push(endpoint.call)
      }
      return found
    }
    const all = await admitted(await delegate())
    assert.sameMembers(all, [...any, ...whole])
    assert.sameMembers(await admitted(await delegate({ keys: ["SHARED", `SET_${about.fresh}`] })), any)
    await pair.first.setSuperadmins()
  })
})

/** The rights that a person may have later, and the highest permission that each gives. */
const rights = {
  nothing: { role: "developer", rule: undefined, gives: -1 },
  use: { role: "developer", rule: "use", gives: 0 },
  read: { role: "developer", rule: "read", gives: 1 },
  "write of a member, who never writes": { role: "member", rule: "write", gives: 1 },
  write: { role: "developer", rule: "write", gives: 2 },
  "those of an admin": { role: "admin", rule: undefined, gives: 2 }
} as const

const scopes = [
  { permission: "use", reveal: true, gives: 0, reveals: false },
  { permission: "read", reveal: false, gives: 1, reveals: false },
  { permission: "read", reveal: true, gives: 1, reveals: true },
  { permission: "write", reveal: false, gives: 2, reveals: false },
  { permission: "write", reveal: true, gives: 2, reveals: true }
] as const

describe("a delegation gives its person's right within its scope", () => {
  it.each(Object.entries(rights))("when the person has %s", async (_name, { gives, role, rule }) => {
    const { address, delegate, org, person, prod } = await scene("admin")
    const made = []
    for (const scope of scopes) {
      const { permission, reveal } = scope
      made.push({ scope, headers: await delegate({ permission, reveal }) })
    }
    await pair.first.asRoot("PATCH", `${org}/members/${person.id}`, { role })
    if (rule !== undefined) {
      const patterns = { project_pattern: "web*", env_pattern: "{prod,staging}" }
      const subject = { subject_type: "user", email: address }
      await pair.first.asRoot("POST", `${org}/acl`, { ...subject, ...patterns, permission: rule })
    }
    for (const { headers, scope } of made) {
      const most = Math.min(gives, scope.gives)
      const told = JSON.stringify(scope)
      const expected = (isAllowed: boolean) => (isAllowed ? 200 : 403)
      assert.strictEqual(await statusOf(headers, "GET", `${prod}/uses`), expected(most >= 0), told)
      assert.strictEqual(await statusOf(headers, "GET", `${prod}/secrets`), expected(most >= 1), told)
      for (const value of [`${prod}/secrets/SHARED`, `${prod}/bundle`, `${prod}/bundle?raw=1`]) {
        assert.strictEqual(await statusOf(headers, "GET", value), expected(most >= 1 && scope.reveals), told)
      }
      const set = await statusOf(headers, "PUT", `${prod}/secrets/SHARED`, { value: word() })
      assert.strictEqual(set, expected(most >= 2), told)
      // The person may act there; the delegation may not, and does not learn what exists.
      for (const elsewhere of [`${org}/projects/webshop/envs/staging`, `${org}/projects/webshop/envs/nowhere`]) {
        const { message, status } = await send(headers, "GET", `${elsewhere}/secrets`)
        assert.strictEqual(status, 403, told)
        assert.match(message ?? "", /is for environment webshop\/prod of organization .* alone/)
      }
      const query = new URLSearchParams({ subject_type: "user", email: address, project: "webshop", env: "prod" })
      const { body } = await send(headers, "GET", `${org}/acl/explain?${query.toString()}`)
      assert.deepStrictEqual(body.allowed, ["use", "read", "write"].slice(0, most + 1), told)
      assert.strictEqual(body.via, "delegation claude")
    }
  })
})

describe("the next request of a delegation is refused once", () => {
  const losses: Readonly<Record<string, (at: Awaited<ReturnType<typeof scene>>, id: string) => Promise<unknown>>> = {
    "it is revoked": ({ person }, id) => pair.first.do(person.headers, "DELETE", `/api/auth/delegations/${id}`),
    "its person is disabled": ({ person }) => pair.first.asRoot("POST", `/api/users/${person.id}/disable`),
    "its person's logins are ended": ({ person }) => pair.first.asRoot("POST", `/api/users/${person.id}/end-sessions`),
    "its person leaves the organization": ({ org, person }) =>
      pair.first.asRoot("DELETE", `${org}/members/${person.id}`),
    "the environment is removed": ({ prod }) => pair.first.asRoot("DELETE", prod),
    "the project is removed": ({ org }) => pair.first.asRoot("DELETE", `${org}/projects/webshop`),
    "the organization is removed": ({ org }) => pair.first.asRoot("DELETE", org)
  }
  it.each(Object.entries(losses))("%s", async (_name, happens) => {
    const at = await scene()
    const { id, token } = await at.delegated()
    const headers = people(token)
    const write = [headers, "PUT", `${at.prod}/secrets/SHARED`, { value: "x" }] as const
    assert.strictEqual(await statusOf(...write), 200)
    await happens(at, id)
    const { message, status } = await send(...write)
    assert.strictEqual(status, 401)
    assert.match(message ?? "", /this delegation is unknown, has ended or was revoked/)
    // The return of the member or the user does not restore the delegation.
    await pair.first.send({
      method: "POST",
      path: `${at.org}/members`,
      headers: pair.first.root,
      body: { email: at.address, role: "owner" }
    })
    await pair.first.send({ method: "POST", path: `/api/users/${at.person.id}/enable`, headers: pair.first.root })
    assert.strictEqual(await statusOf(...write), 401)
  })

  it("a write and the loss of it at the same time come in one order on two servers", async () => {
    for (let round = 0; round < 6; round++) {
      const at = await scene()
      const { id, token } = await at.delegated()
      const lose = Object.values(losses)[round]
      const [status] = await Promise.all([
        statusOf(people(token), "PUT", `${at.prod}/secrets/RACED`, { value: "x" }),
        lose?.(at, id)
      ])
      assert.include([200, 401, 404], status)
      const { data } = await pair.first.asRoot("GET", `${at.org}/audit-logs?limit=100`)
      const written = data.filter(({ metadata }: Json) => metadata.key === "RACED" && metadata.delegation?.id === id)
      assert.strictEqual(written.length, status === 200 ? 1 : 0, `${round}: ${status}`)
    }
  })

  it("ten live at most, also when they are made at the same time on two servers", async () => {
    const at = await scene()
    const body = { org: at.org_name, project: "webshop", env: "prod", permission: "read", name: "a", expires_in: 60 }
    const servers = [pair.first, pair.second]
    const ask = (n: number) =>
      (servers[n % 2] ?? pair.first).send({
        method: "POST",
        path: "/api/auth/delegations",
        headers: at.person.headers,
        body
      })
    const statuses = (await Promise.all(Array.from({ length: 14 }, (_, n) => ask(n)))).map(({ status }) => status)
    assert.deepStrictEqual(statuses.toSorted(), [...Array<number>(10).fill(201), ...Array<number>(4).fill(409)])
  })
})

describe("a delegation that asks for access", () => {
  const access = { kind: "access", project: "webshop", env: "prod", expires_in: 3_600, reason: "INC-12" }

  it("asks for its person within its scope, and knows, shows and withdraws its own requests alone", async () => {
    const { address, delegate, org, person } = await scene("admin")
    const headers = await delegate({ permission: "read" })
    const other = await delegate({ permission: "write" })
    await pair.first.asRoot("PATCH", `${org}/members/${person.id}`, { role: "developer" })
    const requests = `${org}/requests`
    const ask = (asked: object, by: Headers = headers) => send(by, "POST", requests, { ...access, ...asked })
    for (const outside of [
      { permission: "write" },
      { env: "staging", permission: "read" },
      { env: "nowhere", permission: "read" }
    ]) {
      const { message, status } = await ask(outside)
      assert.strictEqual(status, 409, JSON.stringify(outside))
      assert.match(message ?? "", /^cannot request (read|write) on webshop\/\w+: .* or your delegation cannot get it$/)
    }
    const asked = await ask({ permission: "read" })
    assert.strictEqual(asked.status, 201, asked.text)
    assert.strictEqual(asked.body.requester, address)
    const own = (await pair.first.do(person.headers, "POST", requests, { ...access, permission: "use" })).id
    const idsOf = async (by: Headers) => (await send(by, "GET", requests)).body.data.map(({ id }: Json) => id)
    assert.deepStrictEqual(await idsOf(headers), [asked.body.id])
    assert.deepStrictEqual(await idsOf(other), [])
    assert.sameMembers(await idsOf(person.headers), [asked.body.id, own])
    for (const [by, id] of [
      [other, asked.body.id],
      [headers, own]
    ] as const) {
      assert.strictEqual(await statusOf(by, "GET", `${requests}/${id}`), 404)
      assert.strictEqual(await statusOf(by, "POST", `${requests}/${id}/withdraw`), 404)
    }
    for (const [method, call] of [
      ["POST", "approve"],
      ["POST", "refuse"],
      ["GET", "values"]
    ] as const) {
      const { message, status } = await send(headers, method, `${requests}/${asked.body.id}/${call}`)
      assert.strictEqual(status, 403, call)
      assert.match(message ?? "", /delegation/)
    }
    await pair.first.asRoot("POST", `${requests}/${asked.body.id}/approve`)
    assert.strictEqual((await send(headers, "GET", `${requests}/${asked.body.id}`)).body.state, "done")
    const prod = `${org}/projects/webshop/envs/prod`
    assert.strictEqual(await statusOf(headers, "GET", `${prod}/secrets/SHARED`), 200)
    const more = await ask({ permission: "write" }, other)
    assert.strictEqual((await send(other, "POST", `${requests}/${more.body.id}/withdraw`)).body.state, "withdrawn")
  })
})

describe("a delegation limited to keys", () => {
  it("names, lists, counts and changes no other, and reads no other through a reference", async () => {
    const { delegate, org, person, prod } = await scene()
    await pair.first.asRoot("PUT", `${prod}/secrets/GONE`, { value: "x" })
    await pair.first.asRoot("DELETE", `${prod}/secrets/GONE`)
    const headers = await delegate({ keys: ["SHARED", "THROUGH", "UNSET"] })
    const keys = (list: Json) => list.data.map(({ key }: { readonly key: string }) => key)
    const all = await send(headers, "GET", `${prod}/secrets`)
    assert.deepStrictEqual(keys(all.body), ["SHARED", "THROUGH"])
    assert.deepStrictEqual(keys((await send(headers, "GET", `${prod}/secrets?removed=1`)).body), [])
    assert.deepStrictEqual(keys((await send(headers, "GET", `${prod}/secrets?due_within=30d`)).body), [])

    const bundle = await send(headers, "GET", `${prod}/bundle`)
    assert.deepStrictEqual(keys(bundle.body), ["SHARED"])
    assert.deepStrictEqual(bundle.body.errors, [
      {
        key: "THROUGH",
        code: "REFERENCE_REFUSED",
        message: "THROUGH refers to OTHER, and this delegation is limited to other keys"
      }
    ])
    assert.notInclude(bundle.text, "of another key")
    const vault = { "x-vault-token": headers.authorization.replace("Bearer ", "") }
    const view = await send(await delegate({ keys: ["SHARED"] }), "GET", `/v1/webshop/data/prod`)
    assert.strictEqual(view.status, 200, view.text)
    assert.deepStrictEqual(view.body.data.data, { SHARED: "two" })
    assert.strictEqual(await statusOf(vault, "GET", "/v1/webshop/metadata/prod"), 403)
    assert.deepStrictEqual((await send(vault, "GET", "/v1/webshop/metadata?list=true")).body.data.keys, ["prod"])
    assert.strictEqual(await statusOf(vault, "GET", "/v1/sys/internal/ui/mounts/webshop"), 200)
    assert.strictEqual((await send(vault, "GET", "/v1/auth/token/lookup-self")).body.data.meta.delegation, "claude")

    // The same words for what exists and what does not.
    const refused: Array<readonly [string, string, unknown?]> = [
      ["GET", "secrets/OTHER"],
      ["GET", "secrets/OTHER/versions"],
      ["GET", "bundle?keys=SHARED,OTHER"],
      ["PUT", "secrets/OTHER", { value: "x" }],
      ["DELETE", "secrets/OTHER"],
      ["PATCH", "bundle", { set: { SHARED: "x", OTHER: "x" } }],
      ["PATCH", "bundle", { delete: ["OTHER"], dry_run: true }]
    ]
    for (const [method, path, body] of refused) {
      const there = await send(headers, method, `${prod}/${path}`, body)
      assert.strictEqual(there.status, 403, `${path}: ${there.text}`)
      assert.strictEqual(there.message, "the delegation claude is limited to other keys")
      const absent = JSON.parse(JSON.stringify(body ?? null).replaceAll("OTHER", "ABSENT")) ?? undefined
      const here = await send(headers, method, `${prod}/${path.replace("OTHER", "ABSENT")}`, absent)
      assert.strictEqual(here.text.replace(/"request_id":"[^"]*"/, ""), there.text.replace(/"request_id":"[^"]*"/, ""))
    }
    // A reference would be a way to read another key, and says whether that exists.
    const written = await send(headers, "PUT", `${prod}/secrets/SHARED`, { value: "${OTHER}", kind: "reference" })
    assert.match(written.message ?? "", /limited to keys writes no references/)
    await pair.first.do(person.headers, "PUT", `${prod}/secrets/BEHIND`, { value: "${SHARED}", kind: "reference" })
    const gone = await send(headers, "DELETE", `${prod}/secrets/SHARED`)
    assert.strictEqual(gone.status, 409)
    assert.notInclude(gone.text, "BEHIND")
    assert.strictEqual(await statusOf(headers, "PUT", `${prod}/secrets/UNSET`, { value: "x" }), 200)
    assert.strictEqual(await statusOf(headers, "GET", `${org}/keys?query=OTHER`), 403)
  })
})

describe("what a delegation does", () => {
  it("has an ETag of its own: that of its person is of another content, and its own is known again", async () => {
    const { delegate, person, prod } = await scene()
    const limited = await delegate({ keys: ["SHARED"] })
    const other = await delegate({ keys: ["OTHER"] })
    for (const query of ["", "?format=object", "?raw=1"]) {
      const path = `${prod}/bundle${query}`
      const read = (headers: Headers, known: string) =>
        pair.second.send({ method: "GET", path, headers: { ...headers, "if-none-match": known }, body: undefined })
      const tagOf = async (headers: Headers) => (await read(headers, '"none"')).etag
      const callers = [person.headers, limited, other, await delegate()]
      const tags = await Promise.all(callers.map(tagOf))
      for (const [index, headers] of callers.entries()) {
        const statuses = await Promise.all(tags.map(async (tag) => (await read(headers, tag)).status))
        // A delegation without limits sees what its person sees.
        const same = index % 3 === 0 ? [0, 3] : [index]
        assert.deepStrictEqual(
          statuses,
          tags.map((_, of) => (same.includes(of) ? 304 : 200)),
          `${query} ${index}`
        )
      }
      if (query !== "") continue
      const write = (tag: string, value: string) =>
        pair.second.send({
          method: "PATCH",
          path,
          headers: { ...limited, "if-match": tag },
          body: { set: { SHARED: value } }
        })
      const written = await write(tags[1] ?? "", "changed")
      assert.strictEqual(written.status, 200, written.text)
      assert.strictEqual((await write(written.etag, "again")).status, 200)
      assert.strictEqual((await write(tags[1] ?? "", "late")).status, 409)
    }
  })

  it("is its person's in the log, with the delegation, and it says what it is", async () => {
    const { address, delegated, delegate, org, org_name, person, prod } = await scene()
    const { id, token, ...made } = await delegated({ name: "nightly job", keys: ["SHARED"], reveal: false })
    assert.match(token, /^svc_dt_/)
    const headers = people(token)
    await send(headers, "PUT", `${prod}/secrets/SHARED`, { value: "x" })
    await send(headers, "GET", `${prod}/secrets/OTHER`)
    const newest = async (): Promise<Json> => {
      const { data } = await pair.first.asRoot("GET", `${org}/audit-logs?limit=3`)
      // The entry of a refusal is written after its answer.
      return data[0].action === "access.denied" ? data : newest()
    }
    const data = await newest()
    const by = { id, name: "nightly job" }
    const place = { project: "webshop", env: "prod" }
    const entry = ({ action, actor_name, metadata }: Json) => ({ action, actor_name, metadata })
    const { expires_at } = made
    const terms = { name: "nightly job", permission: "write", reveal: false, keys: ["SHARED"], expires_at }
    assert.deepStrictEqual(data.map(entry), [
      {
        action: "access.denied",
        actor_name: address,
        metadata: {
          ...place,
          action: "secret.read",
          asked: `${org_name}/webshop/prod/OTHER`,
          delegation: by
        }
      },
      { action: "secret.set", actor_name: address, metadata: { ...place, key: "SHARED", version: 3, delegation: by } },
      { action: "delegation.create", actor_name: address, metadata: { ...place, ...terms } }
    ])
    const me = (await send(headers, "GET", "/api/auth/me")).body
    assert.deepStrictEqual(me.delegation, {
      id,
      name: "nightly job",
      org: org_name,
      ...place,
      permission: "write",
      reveal: false,
      keys: ["SHARED"],
      expires_at
    })
    const list = async () => (await send(person.headers, "GET", "/api/auth/delegations")).body.data
    assert.deepStrictEqual((await list())[0], { id, ...made, last_used_at: (await list())[0].last_used_at })
    // Other people do not find it, and a delegation may not revoke it.
    const other = await scene()
    assert.strictEqual(await statusOf(other.person.headers, "DELETE", `/api/auth/delegations/${id}`), 404)
    assert.strictEqual(await statusOf(await delegate(), "DELETE", `/api/auth/delegations/${id}`), 403)
  })

  it("is for several environments of an organization, with the right at each that it would have there alone", async () => {
    const { address, delegated, org, org_name, person } = await scene("developer")
    const billing = `${org}/projects/billing/envs/prod`
    await pair.first.asRoot("POST", `${org}/projects`, { name: "billing" })
    await pair.first.asRoot("PUT", `${billing}/secrets/SHARED`, { value: "of billing" })
    const grant = (project_pattern: string, env_pattern: string, permission: string): Promise<Json> =>
      pair.first.asRoot("POST", `${org}/acl`, {
        ...{ subject_type: "user", email: address, project_pattern, env_pattern, permission }
      })
    await grant("webshop", "*", "write")
    const also = [
      { project: "webshop", env: "staging" },
      { project: "billing", env: "prod" },
      { project: "webshop", env: "prod" }
    ]
    // Without the right in one of them, nothing is made.
    const refused = await delegated({ also }).then(() => assert.fail("delegated"), String)
    assert.match(refused, /FORBIDDEN.*billing/s)
    const list = async () => (await send(person.headers, "GET", "/api/auth/delegations")).body.data
    assert.deepStrictEqual(await list(), [])

    const rule = await grant("billing", "prod", "write")
    const made = await delegated({ also })
    assert.deepStrictEqual(made.also, also.slice(0, 2), "each once, in the order of the person")
    assert.deepStrictEqual((await list())[0].also, made.also)
    const agent = people(made.token)
    const me = (await send(agent, "GET", "/api/auth/me")).body.delegation
    assert.deepStrictEqual([me.project, me.env, me.also], ["webshop", "prod", made.also])
    const read = (project: string, env: string) =>
      statusOf(agent, "GET", `${org}/projects/${project}/envs/${env}/secrets/SHARED`)
    const here = ["webshop/prod", "webshop/staging", "billing/prod"]
    const answers = async () =>
      Promise.all(
        [...here, "webshop/dev", "billing/staging", "nowhere/prod"].map((place) => {
          const [project = "", env = ""] = place.split("/")
          return read(project, env)
        })
      )
    assert.deepStrictEqual(await answers(), [200, 200, 200, 403, 403, 403])
    const vault = { "x-vault-token": String(made.token) }
    const listed = async (project: string) => (await send(vault, "GET", `/v1/${project}/metadata?list=true`)).body
    assert.deepStrictEqual((await listed("webshop")).data.keys, ["prod", "staging"])
    assert.deepStrictEqual((await listed("billing")).data.keys, ["prod"])
    const entry = (await pair.first.asRoot("GET", `${org}/audit-logs?action=delegation.create`)).data[0]
    assert.deepStrictEqual(entry.metadata.also, ["webshop/staging", "billing/prod"])

    await pair.first.asRoot("DELETE", `${org}/acl/${rule.id}`)
    assert.deepStrictEqual(await answers(), [200, 200, 403, 403, 403, 403], "as the person now")
    // Another name of a project is the name by which it is asked for, and no delegation outlasts a removal.
    await pair.first.asRoot("PATCH", `${org}/projects/billing`, { name: "bills" })
    assert.deepStrictEqual((await list())[0].also[1], { project: "bills", env: "prod" })
    const before = (await send(agent, "GET", "/api/auth/me")).body.delegation.id
    for (const [env, left] of [
      ["prod", ["staging", [{ project: "bills", env: "prod" }]]],
      ["staging", ["prod", undefined]]
    ] as const) {
      await pair.first.asRoot("DELETE", `${org}/projects/webshop/envs/${env}?force=1`)
      const {
        body: { delegation }
      } = await send(agent, "GET", "/api/auth/me")
      assert.deepStrictEqual([delegation.id, delegation.env, delegation.also], [before, ...left])
    }
    const { data: removed } = await pair.first.asRoot("GET", `${org}/projects/webshop/trash?name=prod`)
    await pair.first.asRoot("POST", `${org}/projects/webshop/trash/${removed[0].id}/restore`, {})
    assert.strictEqual(await read("webshop", "prod"), 403, "what was removed does not come back")
    await pair.first.asRoot("DELETE", `${org}/projects/bills`)
    assert.strictEqual(await statusOf(agent, "GET", "/api/auth/me"), 401)
    assert.deepStrictEqual(await list(), [])
    assert.strictEqual(org_name, made.org)
  })

  it("takes at most ten environments, of one organization, each by its names", async () => {
    const { delegated } = await scene()
    const refusal = (also: unknown) => delegated({ also }).then(() => assert.fail("delegated"), String)
    const dev = { project: "webshop", env: "dev" }
    assert.match(await refusal(Array.from({ length: 10 }, () => dev)), /VALIDATION_ERROR.*at most 9 further/s)
    assert.match(await refusal([{ ...dev, org: "other" }]), /VALIDATION_ERROR/)
    assert.match(await refusal([{ project: "webshop" }]), /VALIDATION_ERROR/)
    assert.match(await refusal([{ ...dev, env: "nowhere" }]), /NOT_FOUND/)
    assert.isUndefined((await delegated({ also: [] })).also)
  })

  it("needs a person with the permission, and ends in the time that the server allows", async () => {
    const { delegate, delegated, org, person } = await scene("member")
    const refusal = (fields: object) => delegated(fields).then(() => assert.fail("delegated"), String)
    assert.match(await refusal({}), /FORBIDDEN/)
    await pair.first.asRoot("PATCH", `${org}/members/${person.id}`, { role: "admin" })
    assert.match(await refusal({ expires_in: 24 * 3600 + 1 }), /at most 24 hours/)
    assert.match(await refusal({ env: "nowhere" }), /NOT_FOUND/)
    assert.match(await refusal({ permission: "admin" }), /VALIDATION_ERROR/)
    assert.match(await refusal({ keys: [] }), /VALIDATION_ERROR/)
    await delegate({ expires_in: 24 * 3600 })
  })
})
