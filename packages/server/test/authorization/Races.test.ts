import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { type OtherSide, otherSideSettings, startOtherSide } from "./OtherSide.js"
import { type Pair, startPair } from "./Pair.js"
import { sceneSettings } from "./Scene.js"
import { machines, word } from "./Service.js"

// Rules across rows that requests at the same time must not break together, on one server or two.

const rounds = 4
let pair: Pair
/** Where requests with secrets go. */
let other: OtherSide

beforeAll(async () => {
  other = await startOtherSide()
  pair = await startPair({ ...sceneSettings(), ...otherSideSettings })
})

afterAll(async () => {
  await pair.stop()
  await other.stop()
})

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Makes calls at the same time, one on each server, whose order alternates. Returns their statuses. */
const race = async (
  round: number,
  as: ReadonlyArray<Readonly<Record<string, string>>>,
  ...calls: ReadonlyArray<Call>
) => {
  const servers = round % 2 === 0 ? [pair.first, pair.second] : [pair.second, pair.first]
  const sent = calls.map(
    (call, index) => async () =>
      (servers[index % 2] ?? pair.first).send({ ...call, headers: as[index % as.length] ?? {} })
  )
  const ended = new Map<number, number>()
  const order = [...sent.keys()]
  if (round % 4 > 1) order.reverse()
  await Promise.all(order.map(async (index) => ended.set(index, (await sent[index]?.())?.status ?? 0)))
  return calls.map((_call, index) => ended.get(index) ?? 0)
}

/** An organization of the superadmin with a project. */
const place = async () => {
  const name = `org-${word()}`
  const org = `/api/orgs/${name}`
  await pair.first.asRoot("POST", "/api/orgs", { name })
  await pair.first.asRoot("POST", `${org}/projects`, { name: "webshop" })
  const project = `${org}/projects/webshop`
  const prod = `${project}/envs/prod`
  return { org, project, prod }
}

/** The key of an account that may send a secret to the other side. */
const agentOf = async ({ org, prod }: Awaited<ReturnType<typeof place>>, secret: string, terms: object) => {
  const { api_key, id } = await pair.first.asRoot("POST", `${org}/service-accounts`, { name: "agent" })
  const subject = { subject_type: "service_account", subject_id: id, permission: "use" }
  await pair.first.asRoot("POST", `${org}/acl`, { ...subject, project_pattern: "*", env_pattern: "*" })
  await pair.first.asRoot("POST", `${prod}/secrets/${secret}/use-rules`, {
    hosts: [other.address],
    paths: ["/v1/*"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"],
    per_minute: 1_000,
    ...terms
  })
  return machines(api_key)
}

/** A request with a secret to the other side. */
const useOf = (prod: string, secret: string, n: number) => ({
  method: "POST",
  path: `${prod}/use`,
  body: { method: "GET", url: `http://${other.address}/v1/${n}`, secrets: [secret] }
})

/** The actions of an organization's log, oldest first. */
const actionsOf = async (org: string): Promise<ReadonlyArray<string>> => {
  const { data } = await pair.first.asRoot("GET", `${org}/audit-logs?limit=100`)
  return data.map(({ action }: { readonly action: string }) => action).reverse()
}

describe("at the same time,", () => {
  it("two superadmins who disable each other leave one", async () => {
    for (let round = 0; round < rounds; round++) {
      const addresses = [email(`${word()}@example.com`), email(`${word()}@example.com`)] as const
      const [ada, bob] = [await pair.first.person(addresses[0]), await pair.first.person(addresses[1])]
      await pair.first.setSuperadmins(...addresses)
      const disable = (id: string) => ({ method: "POST", path: `/api/users/${id}/disable` })
      const ended = await race(round, [ada.headers, bob.headers], disable(bob.id), disable(ada.id))
      assert.strictEqual(ended.filter((status) => status < 300).length, 1, ended.join())
      await pair.first.setSuperadmins()
    }
  })

  it("a write into a project comes before the project's deletion, or is refused", async () => {
    for (let round = 0; round < rounds; round++) {
      const { org, prod, project } = await place()
      const write = { method: "PUT", path: `${prod}/secrets/A`, body: { value: "written" } }
      const [written, removed] = await race(round, [pair.first.root], write, { method: "DELETE", path: project })
      assert.isBelow(removed ?? 0, 300)
      const actions = (await actionsOf(org)).filter((action) => action === "secret.set" || action === "project.delete")
      assert.deepStrictEqual(actions, written === 404 ? ["project.delete"] : ["secret.set", "project.delete"])
    }
  })

  it("a value that breaks a strict pattern comes before the declaration, or is refused", async () => {
    for (let round = 0; round < rounds; round++) {
      const { org, prod, project } = await place()
      await pair.first.asRoot("PATCH", project, { strict: true })
      const [written, declared] = await race(
        round,
        [pair.first.root],
        { method: "PUT", path: `${prod}/secrets/A`, body: { value: "no number" } },
        { method: "PUT", path: `${project}/declared/A`, body: { pattern: "[0-9]+" } }
      )
      assert.isBelow(declared ?? 0, 300)
      const actions = (await actionsOf(org)).filter((action) => action === "secret.set" || action === "declared.set")
      const isWritten = (written ?? 0) < 300
      assert.deepStrictEqual(actions, isWritten ? ["secret.set", "declared.set"] : ["declared.set"])
    }
  })

  it("a due date moves with the current version", async () => {
    for (let round = 0; round < rounds; round++) {
      const { prod } = await place()
      const path = `${prod}/secrets/A`
      await pair.first.asRoot("PUT", path, { value: "one" })
      await pair.first.asRoot("PATCH", path, { rotate_every_days: 10 })
      const ended = await race(
        round,
        [pair.first.root],
        { method: "PUT", path, body: { value: "two" } },
        { method: "PATCH", path, body: { rotate_every_days: 20 } },
        { method: "PUT", path, body: { value: "three" } }
      )
      assert.isTrue(ended.every((status) => status < 300))
      const { data } = await pair.first.asRoot("GET", `${prod}/secrets`)
      const [{ due_at, updated_at, version }] = data
      assert.strictEqual(version, 3)
      assert.strictEqual(Date.parse(due_at) - Date.parse(updated_at), 20 * 86_400_000)
    }
  })

  it("a reference of two keys never combines an old one with a new one", async () => {
    const { prod } = await place()
    const write = (n: number) => pair.first.asRoot("PATCH", `${prod}/bundle`, { set: { USER: `u${n}`, PASS: `p${n}` } })
    await write(0)
    await pair.first.asRoot("PUT", `${prod}/secrets/BOTH`, { value: "${USER}:${PASS}", kind: "reference" })
    let isWriting = true
    const seen: Array<string> = []
    const reading = async (path: string, valueOf: (body: Json) => string) => {
      while (isWriting) seen.push(valueOf(await pair.second.do(pair.first.root, "GET", path)))
    }
    const readers = [
      reading(`${prod}/secrets/BOTH`, ({ value }) => value),
      reading(`${prod}/bundle?keys=BOTH`, ({ data }) => data[0].value)
    ]
    for (let n = 1; n <= 20; n++) await write(n)
    isWriting = false
    await Promise.all(readers)
    assert.isAbove(new Set(seen).size, 1)
    for (const text of seen) assert.match(text, /^u(\d+):p\1$/)
  })

  it("no more requests wait for approval than may, and one request waits once", async () => {
    const where = await place()
    const { org, prod } = where
    await pair.first.asRoot("PUT", `${prod}/secrets/A`, { value: "long enough" })
    const agent = await agentOf(where, "A", { approval: "each" })
    const waiting = async () => (await pair.first.asRoot("GET", `${org}/approvals`)).data.length as number
    await race(0, [agent], ...Array.from({ length: 4 }, () => useOf(prod, "A", 0)))
    assert.strictEqual(await waiting(), 1)
    for (let n = 1; n <= 24; n += 4) await race(n, [agent], ...[0, 1, 2, 3].map((one) => useOf(prod, "A", n + one)))
    assert.strictEqual(await waiting(), 20)
  })

  it("a request that was approved leaves once", async () => {
    const where = await place()
    const { org, prod } = where
    await pair.first.asRoot("PUT", `${prod}/secrets/A`, { value: "long enough" })
    const agent = await agentOf(where, "A", { approval: "each" })
    for (let round = 0; round < rounds; round++) {
      await race(round, [agent], useOf(prod, "A", round))
      const { data } = await pair.first.asRoot("GET", `${org}/approvals`)
      const { id } = data.find(({ state }: Json) => state === "pending")
      await pair.first.asRoot("POST", `${org}/approvals/${id}/approve`)
      const before = other.arrived()
      const ended = await race(round, [agent], ...Array.from({ length: 4 }, () => useOf(prod, "A", round)))
      assert.strictEqual(ended.filter((status) => status === 200).length, 1, ended.join())
      assert.strictEqual(other.arrived() - before, 1)
      // The others asked for another approval, once.
      const asked = (await pair.first.asRoot("GET", `${org}/approvals`)).data
      const [again, ...more] = asked.filter(({ state }: Json) => state === "pending")
      assert.deepStrictEqual(more, [])
      await pair.first.asRoot("POST", `${org}/approvals/${again.id}/refuse`)
    }
  })

  it("a request with a reference of two keys never sends an old one with a new one", async () => {
    const where = await place()
    const { prod } = where
    const write = (n: number) =>
      pair.first.asRoot("PATCH", `${prod}/bundle`, { set: { USER: `user-${n}`, PASS: `pass-${n}` } })
    await write(0)
    await pair.first.asRoot("PUT", `${prod}/secrets/BOTH`, { value: "${USER}:${PASS}", kind: "reference" })
    const agent = await agentOf(where, "BOTH", {})
    const before = other.arrived()
    let isWriting = true
    const using = async () => {
      while (isWriting) {
        const { status, text } = await pair.second.send({ ...useOf(prod, "BOTH", 0), headers: agent })
        assert.strictEqual(status, 200, text)
      }
    }
    const users = [using(), using()]
    for (let n = 1; n <= 20; n++) await write(n)
    isWriting = false
    await Promise.all(users)
    const sent = other.credentials().slice(before)
    assert.isAbove(new Set(sent).size, 1)
    for (const text of sent) assert.match(text, /^Bearer user-(\d+):pass-\1$/)
  })
})
