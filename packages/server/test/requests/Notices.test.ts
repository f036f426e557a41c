import { query, sql } from "@coffer/server/database/Query"
import { Effect, Exit, Queue, Schema, Scope } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"
import { machines, people } from "../authorization/Service.js"
import { formsIn, mark } from "../canary/Marks.js"
import { mailServer, readText, type Received } from "../mail/Servers.js"
import { Receiver } from "../webhooks/Receiver.js"
import { email } from "../support/Services.js"
import { asking, startWorld, type World } from "./World.js"

// The notices of a change to a protected environment, in mails, webhooks and answers. None of them has a value.

const scope = Effect.runSync(Scope.make())
let world: World
let hook: Receiver
let queue: Queue.Queue<Received>
const mails: Array<Received> = []

beforeAll(async () => {
  const { port, received } = await Effect.runPromise(Scope.extend(mailServer(), scope))
  queue = received
  hook = await Receiver.start()
  world = await startWorld({
    ...{ SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_FROM: "coffer@example.com" },
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8"
  })
})
afterAll(async () => {
  await world.stop()
  await hook.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Waits for mails to these people, and for no others. Returns the texts. */
const mailed = async (...addresses: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found = await Effect.runPromise(Effect.timeout(Queue.takeN(queue, addresses.length), "20 seconds"))
  const all = [...found]
  mails.push(...all)
  assert.sameMembers(
    all.flatMap(({ to }) => to),
    [...addresses]
  )
  return all.map(readText)
}

/** The tables and columns that hold something of requests. */
const columns = [
  ...["requests keys", "requests details", "requests reason", "requests outdated", "request_parts ciphertext"],
  ...["wrapped_keys ciphertext", "audit_entries metadata", "webhook_deliveries body"]
] as const

const stored = Effect.gen(function* () {
  const { run } = yield* query
  const read = run(Schema.Struct({ found: Schema.Unknown }))
  return yield* Effect.forEach(columns, (column) => {
    const [table = "", name = ""] = column.split(" ")
    return read(sql([`SELECT ${name} AS found FROM ${table}`]), {})
  })
})

const unknown = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"

/** The answers of all GETs of the contract at a place to somebody. */
const answersTo = async (headers: Readonly<Record<string, string>>, place: Readonly<Record<string, string>>) => {
  const texts: Array<string> = []
  for (const { method, path: pattern } of endpoints) {
    if (method !== "GET" || !pattern.startsWith("/api/orgs")) continue
    const path = pattern.replace(/:([a-z_]+)/g, (_whole, name: string) => place[name] ?? unknown)
    texts.push((await world.first.send({ method, path, headers })).text)
  }
  return texts
}

it("a change that waits is mailed and sent to those whom it concerns, and nothing of it has a value", async () => {
  const { call, organization, propose, vote } = world
  const one = await organization()
  const { admin, ci, dev, guest, org, owner, prod } = one
  await mailed(...[owner, admin, one.other, dev, guest].map((invited) => invited.email))
  const [value, other, glass] = [mark("value"), mark("other"), mark("glass")]
  const [, , , org_name = ""] = org.split("/")
  await call(owner.headers, "POST", `${org}/webhooks`, { url: `${hook.url}/hook`, events: ["*"] })
  const terms = { needed: 2, approvers: [admin.email, guest.email], break_glass: [dev.email] }
  assert.strictEqual((await one.protect(terms)).status, 200)

  const { id } = await propose({ ...ci.headers, "x-coffer-reason": "INC-12" }, "PATCH", `${prod}/bundle`, {
    set: { A: value, B: other }
  })
  const [first = "", second = ""] = await mailed(admin.email, guest.email)
  assert.strictEqual(first, second)
  for (const told of [
    `Organization: ${org_name}`,
    "Change:       set 2 secrets in webshop/prod",
    "Secrets:      A, B",
    "service account ci",
    id
  ]) {
    assert.include(first, told)
  }
  assert.notInclude(first, "INC-12")
  // At most one mail an hour: the next ones that come are about the glass.
  await propose(ci.headers, "PUT", `${prod}/secrets/A`, { value: other })

  // Those who may read there find the values, so there is something to be found.
  const values = `${org}/requests/${id}/values`
  assert.include(JSON.stringify((await call(owner.headers, "GET", values)).body), value)
  const blind = (await call(owner.headers, "POST", `${org}/service-accounts`, { name: "blind", reveal: false })).body
  const rule = { project_pattern: "webshop", env_pattern: "prod", permission: "write" }
  await call(owner.headers, "POST", `${org}/acl`, { ...rule, subject_type: "service_account", subject_id: blind.id })
  const { token } = (
    await call(dev.headers, "POST", "/api/auth/delegations", {
      ...{ name: "agent", org: org_name, project: "webshop", env: "prod", permission: "write" },
      ...{ reveal: false, expires_in: 3_600 }
    })
  ).body
  const place = { org_name, project_name: "webshop", env_name: "prod", key: "A", request_id: id }
  const stranger = await world.first.person(email("stranger@example.com"))
  const callers = [guest.headers, machines(blind.api_key), people(token), stranger.headers]
  const answers = (await Promise.all(callers.map((headers) => answersTo(headers, place)))).flat()
  assert.isAbove(answers.filter((text) => text.includes(id)).length, 0)
  answers.push((await vote(one, guest.headers, id)).body, (await vote(one, dev.headers, id)).body)
  for (const headers of [guest.headers, machines(blind.api_key), people(token)]) {
    answers.push((await call({ ...headers, ...asking }, "PUT", `${prod}/secrets/A`, { value: "x" })).body)
  }
  assert.strictEqual((await vote(one, admin.headers, id)).body.state, "done")

  const broken = { ...dev.headers, "x-coffer-break-glass": encodeURIComponent("INC-13: die Kasse – steht") }
  assert.strictEqual((await call(broken, "PUT", `${prod}/secrets/A`, { value: glass })).status, 200)
  const notices = await mailed("root@example.com", owner.email)
  for (const notice of notices) {
    assert.include(notice, `${dev.email} changed a protected environment without the votes that it needs`)
    assert.include(Buffer.from(notice, "latin1").toString(), "INC-13: die Kasse – steht")
  }

  const events = ["request.create", "request.approve", "request.apply", "secret.set", "secret.break_glass"]
  await expect
    .poll(() => hook.received.map(({ event }) => event.event), { timeout: 20_000 })
    .toEqual(expect.arrayContaining(events))
  const rows = (await world.first.run(stored)).flat().flatMap(({ found }) => {
    return typeof found === "string" || found instanceof Uint8Array ? [Buffer.from(found)] : []
  })
  assert.isAbove(rows.length, 20)
  const told = [
    ...answers.map((answer) => Buffer.from(typeof answer === "string" ? answer : JSON.stringify(answer))),
    ...mails.map((mail) => Buffer.from(`${mail.text}\n${readText(mail)}`)),
    ...hook.received.map(({ headers, text }) => Buffer.from(`${JSON.stringify(headers)}\n${text}`)),
    ...rows
  ]
  for (const text of told) {
    for (const word of [value, other, glass]) assert.deepStrictEqual(formsIn(text, word), [], text.toString())
  }
})

it("a change of no secret is mailed as what it does", async () => {
  const { organization, propose } = world
  const { admin, dev, guest, other, owner, prod, protect } = await organization()
  await mailed(...[owner, admin, other, dev, guest].map((invited) => invited.email))
  assert.strictEqual((await protect({ approvers: [admin.email] })).status, 200)
  await propose(owner.headers, "DELETE", `${prod}/protection`)
  const [mail = ""] = await mailed(admin.email)
  assert.include(mail, "Change:       end the protection of webshop/prod")
})
