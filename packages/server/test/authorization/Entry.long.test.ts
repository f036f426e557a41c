import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertRefused, type Dialogue, parseRaw } from "../support/Program.js"
import { type About, type Endpoint, endpoints, type Place, requestOf } from "./Contract.js"
import { type Account, type Caller, each, nobody, type Person, Service } from "./Service.js"

// Whoever has no right to a call is refused before the body is read, whatever is in it and whether it comes or not.

const acme = "/api/orgs/acme"

let service: Service
let ada: Person
let outsider: Person
let member: Person
let account: Account
let about: About

beforeAll(async () => {
  service = await Service.start({ SUPERADMIN_EMAIL_0: "root@example.com" })
  ada = await service.person("ada@example.com")
  outsider = await service.person("outsider@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", `${acme}/projects`, { name: "webshop" })
  await service.do(ada, "PUT", `${acme}/projects/webshop/envs/prod/secrets/SHARED`, { value: "x" })
  member = await service.member(ada, "acme", "member@example.com", "member")
  account = await service.account(ada, "acme")
  const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
  const place: Place = {
    org_name: "acme",
    project_name: "webshop",
    env_name: "prod",
    key: "SHARED",
    user_id: member.id,
    rule_id: id,
    sa_id: account.id,
    group_name: "bystanders",
    federation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    webhook_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    delivery_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    use_rule_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    connection_name: "shop-db",
    rotation_name: "shop-app",
    role_name: "shop-role",
    lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
    target_name: "target",
    approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    request_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    session_id: id,
    delegation_id: id,
    passkey_id: id,
    export_id: id,
    import_id: id,
    removed_id: id,
    backup_id: id
  }
  about = { place, fresh: "fresh", self: {}, patterns: { project_pattern: "*", env_pattern: "*" } }
})

afterAll(async () => {
  await service.remove()
})

interface Refused {
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly status: 401 | 403 | 404
}

const codes = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND" } as const

/** Every call that takes a body, by everybody who may not make it. */
const refusals = (): ReadonlyArray<Refused> =>
  endpoints
    .filter(({ bodyLimit, requires }) => bodyLimit !== null && requires !== "nothing")
    .flatMap((endpoint): ReadonlyArray<Refused> => {
      const stranger = { endpoint, caller: nobody, status: 401 } as const
      switch (endpoint.requires) {
        case "credential":
          return [stranger]
        case "person":
        case "org.create":
          return [stranger, { endpoint, caller: account, status: 403 }]
        case "superadmin":
          return [stranger, { endpoint, caller: outsider, status: 403 }]
        // Every member and every account may ask. Who may vote is known of the request alone.
        case "request.create":
        case "request.list":
          return [stranger, { endpoint, caller: outsider, status: 404 }]
        default:
          return [
            stranger,
            { endpoint, caller: outsider, status: 404 },
            { endpoint, caller: member, status: 403 },
            { endpoint, caller: account, status: 403 }
          ]
      }
    })

const open = ({ caller, endpoint }: Refused, ...fields: ReadonlyArray<string>): Dialogue => {
  const { method, path } = requestOf(endpoint, about)
  const credential = Object.entries(caller.headers).map(([name, value]) => `${name}: ${value}`)
  const dialogue = service.program.dial()
  dialogue.write([`${method} ${path} HTTP/1.1`, "Host: x", ...credential, ...fields, "", ""].join("\r\n"))
  return dialogue
}

const judge = ({ endpoint, status }: Refused, received: string): void => {
  assert.match(received, /^HTTP\/1\.1 4/, `${endpoint.call}: the body was asked for`)
  assertRefused(parseRaw(received), status, codes[status])
}

const json = "Content-Type: application/json"

describe("a call with a body is refused to whoever may not make it", () => {
  it("while the body is announced and not sent; then the connection is closed", async () => {
    const all = refusals()
    assert.isAtLeast(all.length, 40)
    await each(
      all,
      async (refused) => {
        const dialogue = open(refused, json, `Content-Length: ${refused.endpoint.bodyLimit ?? 0}`)
        await dialogue.closed
        judge(refused, dialogue.received)
      },
      all.length
    )
  })

  it("without asking a client that waits for it to send it", async () => {
    await each(refusals(), async (refused) => {
      const dialogue = open(refused, json, "Content-Length: 2", "Expect: 100-continue")
      await dialogue.heard(/\r\n\r\n[^]*\}$/)
      judge(refused, dialogue.received)
      dialogue.hangUp()
    })
  })

  it("when it is malformed, of another type, or far too large, and is never held", async () => {
    await each(refusals(), async (refused) => {
      const wrong: ReadonlyArray<readonly [fields: ReadonlyArray<string>, body: string]> = [
        [[json, "Content-Length: 5"], "{{{{{"],
        [["Content-Type: text/plain", "Content-Length: 5"], "hello"],
        [[json, `Content-Length: ${(refused.endpoint.bodyLimit ?? 0) * 100}`], "{".repeat(100_000)],
        [[json, "Transfer-Encoding: chunked"], `ffffff\r\n${" ".repeat(100_000)}`]
      ]
      for (const [fields, body] of wrong) {
        const dialogue = open(refused, ...fields)
        dialogue.write(body)
        await dialogue.heard(/\r\n\r\n[^]*\}$/)
        judge(refused, dialogue.received)
        dialogue.hangUp()
      }
    })
  })

  it("and each refusal of a right is recorded once", async () => {
    const root = await service.person("root@example.com")
    const denied = refusals().filter(({ status }) => status === 403)
    const found = await service.entries(root, "/api/audit-logs", "access.denied")
    for (const caller of [outsider, member, account]) {
      assert.strictEqual(
        found.filter(({ actor_id }) => actor_id === caller.id).length,
        6 * denied.filter((refused) => refused.caller === caller).length
      )
    }
  })
})

describe("a call with a body is asked for it", () => {
  it("when a client that may make it waits for that", async () => {
    const body = JSON.stringify({ value: "continued" })
    const dialogue = service.program.dial()
    dialogue.write(
      [
        `PUT ${acme}/projects/webshop/envs/prod/secrets/SHARED HTTP/1.1`,
        "Host: x",
        "Connection: close",
        `Authorization: Bearer ${ada.token}`,
        json,
        `Content-Length: ${body.length}`,
        "Expect: 100-continue",
        "",
        ""
      ].join("\r\n")
    )
    await dialogue.heard(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    dialogue.write(body)
    await dialogue.closed
    assert.strictEqual(parseRaw(dialogue.received).status, 200)
  })
})
