import { assert, beforeAll, describe, it } from "vitest"
import { type About, endpoints, parametersOf, type Place, requestOf } from "./Contract.js"
import { type Caller, nobody, type Person, subjectOf } from "./Service.js"
import { acme, ada, emailFor, matching, prod, service, testTable } from "./Table.js"

/** Callers that tell the grids apart: every actor, and the rules where most of them differ. `Table.long.test.ts` has all. */
const telling = [
  { actor: "anonymous", rule: "none" },
  { actor: "outsider", rule: "admin" },
  { actor: "member", rule: "admin" },
  { actor: "developer", rule: "none" },
  { actor: "developer", rule: "read" },
  { actor: "developer", rule: "write" },
  { actor: "developer", rule: "admin" },
  { actor: "admin", rule: "none" },
  { actor: "owner", rule: "none" },
  { actor: "superadmin", rule: "none" },
  { actor: "account", rule: "none" },
  { actor: "account", rule: "use" },
  { actor: "account", rule: "write" },
  { actor: "developer", rule: "ended" },
  { actor: "account", rule: "ended" },
  { actor: "account", rule: "elsewhere" },
  { actor: "federated", rule: "admin" },
  { actor: "scoped-here", rule: "admin" },
  { actor: "scoped-elsewhere", rule: "admin" },
  { actor: "blind", rule: "admin" }
] as const

testTable(telling)

describe("before anything else of a request is looked at", () => {
  const wrongPlace: Place = {
    org_name: "NO",
    project_name: "NO",
    env_name: "NO",
    key: "1",
    user_id: "no",
    rule_id: "no",
    sa_id: "no",
    group_name: "-no",
    federation_id: "no",
    webhook_id: "no",
    delivery_id: "no",
    use_rule_id: "no",
    connection_name: "NO",
    rotation_name: "NO",
    role_name: "NO",
    lease_id: "no",
    target_name: "-no",
    approval_id: "no",
    request_id: "no",
    session_id: "no",
    delegation_id: "no",
    passkey_id: "no",
    export_id: "no",
    import_id: "no",
    removed_id: "no",
    backup_id: "no"
  }
  const guarded = endpoints.filter(({ requires }) => requires !== "nothing")
  const formed = guarded.filter((endpoint) => parametersOf(endpoint).length > 0)
  const about: About = { place: wrongPlace, fresh: "NO", self: {}, patterns: matching }

  it("the credential is asked for: 401, whatever the form", async () => {
    for (const endpoint of guarded) {
      const { method, path } = requestOf(endpoint, about, {})
      const body = method === "GET" || method === "DELETE" ? {} : { body: { unknown: 1 } }
      assert.strictEqual((await service.call(nobody, method, path, body)).status, 401, endpoint.call)
    }
  })

  it("and then the form is checked: 400, whatever the place", async () => {
    const outsider = await service.person("somebody@example.com")
    for (const endpoint of formed) {
      const { method, path, ...options } = requestOf(endpoint, about)
      const answer = await service.call(outsider, method, path, options)
      assert.strictEqual(answer.status, 400, `${endpoint.call}: ${answer.text}`)
    }
    const rule = { ...subjectOf(outsider), ...matching, permission: "everything" }
    assert.strictEqual(await service.status(outsider, "POST", `${acme}/acl`, rule), 404)
    assert.strictEqual(await service.status(ada, "POST", `${acme}/acl`, rule), 400)
  })
})

describe("a refusal", () => {
  const refused = async (caller: Caller, method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await service.call(caller, method, path, { body })
    assert.strictEqual(answer.status, 403, answer.text)
    return answer.body.error.message
  }

  let developer: Person
  beforeAll(async () => {
    developer = await service.member(ada, "acme", "refused@example.com", "developer")
  })

  it("is recorded with who, what, where from and where", async () => {
    const headers = { ...developer.headers, "x-real-ip": "203.0.113.9" }
    const caller = { id: developer.id, headers }
    await refused(caller, "GET", `${prod}/secrets/SHARED`)
    const [entry] = await service.entries(ada, `${acme}/audit-logs`, "access.denied")
    assert.strictEqual(entry.actor_id, developer.id)
    assert.strictEqual(entry.actor_name, "refused@example.com")
    assert.strictEqual(entry.ip_address, "203.0.113.9")
    assert.strictEqual(entry.resource_type, "env")
    assert.deepStrictEqual(entry.metadata, { action: "secret.read", project: "webshop", env: "prod", key: "SHARED" })
  })

  it("is recorded with the client's address, without the zone that may follow it", async () => {
    for (const [sent, kept] of [
      [`fe80::1%${"A".repeat(6_000)}`, "fe80::1"],
      ["fe80::2%eth0, 192.0.2.1", "127.0.0.1"],
      ["%eth0", "127.0.0.1"]
    ] as const) {
      await refused(
        { id: developer.id, headers: { ...developer.headers, "x-real-ip": sent } },
        "GET",
        `${prod}/secrets/SHARED`
      )
      const [entry] = await service.entries(ada, `${acme}/audit-logs`, "access.denied")
      assert.strictEqual(entry.ip_address, kept)
    }
  })

  it("of an owner's matter to an admin is recorded as well, also when it comes late", async () => {
    const admin = await service.member(ada, "acme", "refused.admin@example.com", "admin")
    const email = "would.be@example.com"
    const invite = await refused(admin, "POST", `${acme}/members`, { email, role: "owner" })
    assert.match(invite, /only an owner of organization acme/)
    assert.match(await refused(admin, "DELETE", `${acme}/members/${ada.id}`), /only an owner of organization acme/)
    const recorded = (await service.entries(ada, `${acme}/audit-logs`, "access.denied")).filter(
      (entry) => entry.actor_id === admin.id
    )
    assert.deepStrictEqual(
      recorded.map((entry) => entry.metadata.action),
      ["member.remove", "member.invite"]
    )
  })

  it("of an explanation about someone else is recorded", async () => {
    const query = "subject_type=user&email=ada%40example.com&project=webshop&env=prod"
    assert.match(await refused(developer, "GET", `${acme}/acl/explain?${query}`), /the role admin in organization acme/)
    const [entry] = await service.entries(ada, `${acme}/audit-logs`, "access.denied")
    assert.deepStrictEqual(entry.metadata, { action: "acl.explain" })
  })

  it("to a superadmin is unknown: what is done by that right alone says so in the log", async () => {
    const superadmin = await service.person(emailFor("superadmin", "write"))
    await service.do(superadmin, "PUT", `${prod}/secrets/BY_RIGHT`, { value: "x" })
    const [entry] = await service.entries(ada, `${acme}/audit-logs`, "secret.set")
    const at = { project: "webshop", env: "prod", key: "BY_RIGHT" }
    assert.deepStrictEqual(entry.metadata, { ...at, version: 1, via: "superadmin" })
  })
})
