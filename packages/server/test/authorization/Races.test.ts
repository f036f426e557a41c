import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { otherSideSettings } from "./OtherSide.js"
import { type Pair, startPair } from "./Pair.js"
import { sceneSettings } from "./Scene.js"
import { machines, word } from "./Service.js"

// Rules across rows that requests at the same time must not break together, on one server or two.

const rounds = 4
let pair: Pair

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), ...otherSideSettings })
})

afterAll(() => pair.stop())

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

  it("a write into a project that is deleted comes before it, or is refused", async () => {
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

  it("a due date moves with the version that is current", async () => {
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
    const { org, prod } = await place()
    await pair.first.asRoot("PUT", `${prod}/secrets/A`, { value: "long enough" })
    const { api_key, id } = await pair.first.asRoot("POST", `${org}/service-accounts`, { name: "agent" })
    const subject = { subject_type: "service_account", subject_id: id, permission: "use" }
    await pair.first.asRoot("POST", `${org}/acl`, { ...subject, project_pattern: "*", env_pattern: "*" })
    await pair.first.asRoot("POST", `${prod}/secrets/A/use-rules`, {
      hosts: ["api.invalid"],
      paths: ["/v1/*"],
      place: { in: "header", name: "authorization", format: "Bearer {}" },
      accounts: ["agent"],
      approval: "each",
      per_minute: 1000
    })
    const use = (n: number) => ({
      method: "POST",
      path: `${prod}/use`,
      body: { method: "GET", url: `https://api.invalid/v1/${n}`, secrets: ["A"] }
    })
    const waiting = async () => (await pair.first.asRoot("GET", `${org}/approvals`)).data.length as number
    await race(0, [machines(api_key)], ...Array.from({ length: 4 }, () => use(0)))
    assert.strictEqual(await waiting(), 1)
    for (let n = 1; n <= 24; n += 4) await race(n, [machines(api_key)], ...[0, 1, 2, 3].map((one) => use(n + one)))
    assert.strictEqual(await waiting(), 20)
  })
})
