import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises"
import Sqlite from "better-sqlite3"
import { afterAll, assert, describe, it } from "vitest"
import { people } from "../authorization/Service.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"
import { round, stateOf, ticked } from "./Rounds.js"

// A server is killed while it answers an agent's call that brings a person's reply: the reply never counts twice.

afterAll(cleanUp)

const prod = "/api/orgs/acme/projects/webshop/envs/prod"
const settings = { SERVICE_ORG_CREATION: "anyone" }

/** A server with a secret that an agent may delete, which is killed and started again on its files. */
const mortal = async () => {
  const folder = freshFolder()
  let program = await Program.start(settings, folder)
  const token = await program.login("ada@example.com")
  const call = (method: string, path: string, body?: unknown) => program.call(method, path, { token, body })
  await call("POST", "/api/orgs", { name: "acme" })
  await call("POST", "/api/orgs/acme/projects", { name: "webshop" })
  const place = { org: "acme", project: "webshop", env: "prod", expires_in: 3600 }
  const made = await call("POST", "/api/auth/delegations", { ...place, name: "agent", permission: "write" })
  const headers = people(made.body.token)
  const stage = {
    send: async ({ body, headers, method, path }: Parameters<Parameters<typeof round>[0]["send"]>[0]) => {
      const { body: answer, status, text } = await program.call(method, path, { headers: { ...headers }, body })
      return { status, text, body: answer, etag: "" }
    }
  }
  const database = new Sqlite(program.file(), { readonly: true })
  const uses = database.prepare<[], { uses: number }>(
    "SELECT count(*) AS uses FROM rate_events WHERE kind = 'agent reply'"
  )
  const deletion = { headers, tool: "secret_delete", parameters: { key: "A" } }
  return {
    set: async () => {
      const { status, text } = await call("PUT", `${prod}/secrets/A`, { value: "one" })
      assert.strictEqual(status, 200, text)
    },
    has: async () => (await call("GET", `${prod}/secrets`)).body.data.length === 1,
    deletions: async (): Promise<number> =>
      (await call("GET", "/api/orgs/acme/audit-logs?action=secret.delete&limit=100")).body.data.length,
    uses: () => uses.get()?.uses ?? 0,
    ask: async () => stateOf(await round(stage, deletion)),
    reply: (state: string): Promise<Json> => round(stage, { ...deletion, state, replies: ticked }),
    kill: async () => {
      await program.stop("SIGKILL")
    },
    start: async () => {
      program = await Program.start(settings, folder)
    },
    end: async () => {
      database.close()
      await program.remove()
    }
  }
}

const isRefused = ({ data }: Json): boolean => data?.reason === "invalid_request_state"
const isDone = ({ structuredContent }: Json): boolean => structuredContent?.deleted === true

describe("a reply to a question, whose server is killed", () => {
  it("counts once: after the restart it is refused, or was never used", async () => {
    const server = await mortal()
    await server.set()
    const begun = performance.now()
    assert.isTrue(isDone(await server.reply(await server.ask())))
    const whole = performance.now() - begun

    const seen = { answered: 0, done: 0, used: 0, unused: 0 }
    for (let index = 0; index < 20; index++) {
      await server.set()
      const state = await server.ask()
      const [used, deletions] = [server.uses(), await server.deletions()]
      const answered = server.reply(state).then(isDone, () => false)
      // Every other time it is killed as soon as the reply is used.
      if (index % 2 === 0) await sleep(Math.random() * whole)
      else while (server.uses() === used) await turn()
      await server.kill()
      const isAnswered = await answered
      await server.start()

      const wasUsed = server.uses() > used
      const isDeleted = !(await server.has())
      assert.strictEqual(await server.deletions(), deletions + (isDeleted ? 1 : 0))
      if (isDeleted || isAnswered) assert.isTrue(wasUsed, "nothing is done before the reply is used")
      if (isAnswered) assert.isTrue(isDeleted)
      // Of a reply that counted again, this secret would be gone.
      if (isDeleted) await server.set()
      const again = await server.reply(state)
      assert.deepStrictEqual([isRefused(again), isDone(again)], [wasUsed, !wasUsed], JSON.stringify(again))
      assert.strictEqual(await server.has(), wasUsed)
      assert.isTrue(isRefused(await server.reply(state)))
      seen[isAnswered ? "answered" : isDeleted ? "done" : wasUsed ? "used" : "unused"]++
    }
    assert.isAbove(seen.used + seen.done, 0, JSON.stringify(seen))
    await server.end()
  }, 600_000)
})
