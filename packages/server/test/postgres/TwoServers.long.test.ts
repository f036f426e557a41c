import { UserId } from "@coffer/domain/base/Ids"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Database } from "@coffer/server/database/Database"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { people, word } from "../authorization/Service.js"
import { startServers } from "../support/postgres/Running.js"
import { newSession } from "../support/NewSession.js"
import { email } from "../support/Services.js"

// Rules across rows that two servers must not break together.

const rounds = 5
let running: Awaited<ReturnType<typeof startServers>>
let first: (typeof running)["servers"][number]
let second: (typeof running)["servers"][number]

beforeAll(async () => {
  running = await startServers(2)
  const [one, other] = running.servers
  if (one === undefined || other === undefined) return assert.fail("two servers were not started")
  first = one
  second = other
})

afterAll(() => running.stop())

interface Someone {
  readonly id: string
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
}

const repo = authRepo

/** A person with a session. */
const person = async (): Promise<Someone> => {
  const id = UserId.make(randomUUID())
  const address = email(`${word()}@example.com`)
  const now = new Date().toISOString()
  const { row, token } = newSession(id, now)
  await first.run(
    Effect.flatMap(Effect.all([Database, repo]), ([{ transaction }, auth]) =>
      transaction(Effect.zipRight(auth.insertUser({ id, email: address, name: "", now }), auth.insertSession(row)))
    )
  )
  return { id, address, headers: people(token) }
}

const superadmins = (...some: ReadonlyArray<Someone>) =>
  first.run(
    Effect.flatMap(Effect.all([Database, repo]), ([{ transaction }, auth]) =>
      transaction(
        auth.setSuperadmins(
          some.map(({ address }) => email(address)),
          new Date().toISOString()
        )
      )
    )
  )

describe("two servers at the same time", () => {
  it("leave one superadmin of two who disable each other", async () => {
    for (let round = 0; round < rounds; round++) {
      const [ada, bob] = [await person(), await person()]
      await superadmins(ada, bob)
      const disable = (server: typeof first, by: Someone, whom: Someone) =>
        server.send({ method: "POST", path: `/api/users/${whom.id}/disable`, headers: by.headers })
      const ended = await Promise.all([disable(first, ada, bob), disable(second, bob, ada)])
      assert.strictEqual(ended.filter(({ status }) => status < 300).length, 1, JSON.stringify(ended))
    }
  })

  it("leave an owner of three who demote each other", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    for (let round = 0; round < rounds; round++) {
      const org = `/api/orgs/org-${word()}`
      await first.do(ada.headers, "POST", "/api/orgs", { name: org.slice("/api/orgs/".length) })
      for (const { address } of [bob, eve]) {
        await first.do(ada.headers, "POST", `${org}/members`, { email: address, role: "owner" })
      }
      const demote = (server: typeof first, by: Someone, whom: Someone) =>
        server.send({
          ...{ method: "PATCH", path: `${org}/members/${whom.id}`, headers: by.headers },
          body: { role: "member" }
        })
      const ended = await Promise.all([demote(first, ada, bob), demote(second, bob, eve), demote(first, eve, ada)])
      for (const { status } of ended) assert.include([200, 403, 404, 409], status)
      const members = await Promise.all(
        [ada, bob, eve].map((one) => first.send({ method: "GET", path: `${org}/members`, headers: one.headers }))
      )
      const { data } = members.find(({ status }) => status === 200)?.body ?? { data: [] }
      const owners = data.filter(({ role }: { role: string }) => role === "owner").length
      assert.isAtLeast(owners, 1)
      // Each demotion that succeeded was of an owner, by one who was an owner then.
      assert.strictEqual(3 - owners, ended.filter(({ status }) => status === 200).length)
    }
  })
})
