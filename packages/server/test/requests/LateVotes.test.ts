import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sceneSettings, scenesOn } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import { email, isOnPostgres } from "../support/Services.js"
import { startWatched } from "../support/Watched.js"
import { asking, startWorld, type World } from "./World.js"

// A vote for a request that ends between two steps of the vote. Servers of an earlier version note the end of a request without the
// lock of its organization.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const Waiting = Schema.Struct({ waiting: Schema.Number })

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** Waits until a statement waits for a row, where the engine says so. */
const met = async (): Promise<void> => {
  if (!isOnPostgres()) return pause(200)
  const waiting = Effect.flatMap(query, ({ one }) =>
    one(Waiting)`SELECT count(*) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`({})
  )
  for (let tries = 0; tries < 400; tries++) {
    if ((await world.first.run(waiting)).waiting > 0) return
    await pause(10)
  }
  assert.fail("the vote does not wait")
}

const statements = Effect.map(query, ({ write }) => ({
  expire: write`UPDATE requests SET state = 'expired' WHERE id = ${"id"}`,
  forget: write`DELETE FROM request_parts WHERE request_id = ${"id"}`,
  forgetKey: write`DELETE FROM wrapped_keys WHERE name = ${"name"}`
}))

/** Erases the call of a request, as its end does. */
const forget = (id: string) =>
  Effect.flatMap(statements, ({ forget, forgetKey }) =>
    Effect.zipRight(forget({ id }), forgetKey({ name: `request/${id}` }))
  )

const proposed = async () => {
  const { propose, protectedOne } = world
  const one = await protectedOne({ needed: 1 })
  const { id } = await propose(one.dev.headers, "PUT", `${one.prod}/secrets/A`, { value: "two" })
  return { one, id: String(id) }
}

describe("a vote is a conflict, and nothing is changed,", () => {
  it("if the request ends by the time the vote would end it", async () => {
    const { call, first, valueOf, vote } = world
    const { id, one } = await proposed()
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const ended = first.run(
      Effect.flatMap(Effect.all([Database, statements]), ([{ transaction }, { expire }]) =>
        transaction(
          expire({ id }).pipe(
            Effect.zipRight(forget(id)),
            Effect.zipRight(Effect.sync(begin)),
            Effect.zipRight(Effect.promise(() => released))
          )
        )
      )
    )
    await begun
    const voting = vote(one, one.admin.headers, id)
    await met()
    release()
    await ended
    const { body, status } = await voting
    assert.deepStrictEqual([status, body.error?.code], [409, "CONFLICT"], JSON.stringify(body))
    assert.strictEqual(await valueOf(one, "A"), "one")
    const { state, votes } = (await call(one.owner.headers, "GET", `${one.org}/requests/${id}`)).body
    assert.deepStrictEqual([state, votes], ["expired", []])
  })

  it("if the call of the request is gone by the time it is read", async () => {
    const { first, valueOf, vote } = world
    const { id, one } = await proposed()
    await first.run(Effect.flatMap(Database, ({ transaction }) => transaction(forget(id))))
    const { body, status } = await vote(one, one.admin.headers, id)
    assert.deepStrictEqual([status, body.error?.code], [409, "CONFLICT"], JSON.stringify(body))
    assert.strictEqual(await valueOf(one, "A"), "one")
  })
})

describe.skipIf(isOnPostgres())("between each two steps of a vote,", () => {
  it("the last vote of another makes the change, once", async () => {
    const server = await scenesOn(await startWatched(sceneSettings()))
    const org = `/api/orgs/org-${word()}`
    const prod = `${org}/projects/webshop/envs/prod`
    await server.asRoot("POST", "/api/orgs", { name: org.slice("/api/orgs/".length) })
    await server.asRoot("POST", `${org}/projects`, { name: "webshop" })
    await server.asRoot("PUT", `${prod}/secrets/A`, { value: "0" })
    const admin = async () => {
      const address = email(`${word()}@example.com`)
      const { headers } = await server.person(address)
      await server.asRoot("POST", `${org}/members`, { email: address, role: "admin" })
      return headers
    }
    const [ada, bob] = [await admin(), await admin()]
    await server.asRoot("PUT", `${prod}/protection`, { needed: 1, approvers: "admins", self: true })
    const steps: Array<number> = []
    for (let met = 1, isReached = true; isReached; met++) {
      const sent = {
        method: "PUT",
        path: `${prod}/secrets/A`,
        headers: { ...ada, ...asking },
        body: { value: `${met}` }
      }
      const { id } = (await server.send(sent)).body
      const approve = { method: "POST", path: `${org}/requests/${id}/approve` }
      isReached = false
      const { status } = await server.ask(
        { ...approve, headers: ada },
        {
          step: async (step) => {
            if (step !== met) return
            isReached = true
            assert.strictEqual((await server.send({ ...approve, headers: bob })).status, 200)
          }
        }
      )
      steps.push(status)
      const { version } = (await server.send({ method: "GET", path: `${prod}/secrets/A`, headers: ada })).body
      assert.strictEqual(version, met + 1)
    }
    // Before it is authenticated, finds the request, reads its call, resolves its names, and changes anything; and after its last step.
    assert.deepStrictEqual(steps, [409, 409, 409, 409, 409, 200])
    await server.stop()
  })
})
