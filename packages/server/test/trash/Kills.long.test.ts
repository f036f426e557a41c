import { afterAll, assert, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"

// A server that is killed while it removes, restores and erases: what it leaves is removed or live as a whole, or nothing brings it
// back; and the next server goes on.

afterAll(cleanUp)

const rounds = isSoak ? 60 : 12
const keys = 400
const project = "/api/orgs/acme/projects/webshop"
const variables = { SUPERADMIN_EMAIL_0: "root@example.com" }

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Kills the server some milliseconds after a call was sent. */
const killedIn = async (program: Program, millis: number, send: () => Promise<unknown>): Promise<void> => {
  const sent = send().catch(() => undefined)
  await pause(millis)
  await program.stop("SIGKILL")
  await sent
}

describe("kill -9", { timeout: 600_000 }, () => {
  it("leaves a removed environment whole, live or given up, and the next server goes on", async () => {
    const folder = freshFolder()
    let program = await Program.start(variables, folder)
    const token = await program.login("root@example.com")
    const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
      const answer = await program.call(method, path, { token, ...(body !== undefined && { body }) })
      assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
      return answer.body
    }
    await ask("POST", "/api/orgs", { name: "acme" })
    await ask("POST", "/api/orgs/acme/projects", { name: "webshop" })
    const set = Object.fromEntries(Array.from({ length: keys }, (_none, index) => [`K_${index}`, `v${index}`]))

    /** Where an environment is, which is in one place alone. */
    const stateOf = async (name: string): Promise<"live" | "removed" | "gone"> => {
      const isLive = (await ask("GET", `${project}/envs`)).data.some((env: Json) => env.name === name)
      const removed = (await ask("GET", `${project}/trash?name=${name}`)).data
      assert.isAtMost(Number(isLive) + Number(removed.length), 1)
      return isLive ? "live" : removed.length === 1 ? "removed" : "gone"
    }
    const checkWhole = async (name: string) => {
      const { data } = await ask("GET", `${project}/envs/${name}/bundle`)
      assert.strictEqual(data.length, keys)
      for (const { key, value } of data) assert.strictEqual(`K_${value.slice(1)}`, key)
    }

    const seen = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const name = `env-${round}`
      await ask("POST", `${project}/envs`, { name })
      await ask("PATCH", `${project}/envs/${name}/bundle`, { set })
      const steps = [
        () => ask("DELETE", `${project}/envs/${name}`),
        async () => {
          const [{ id }] = (await ask("GET", `${project}/trash?name=${name}`)).data
          await ask("POST", `${project}/trash/${id}/restore`, {})
        },
        () => ask("DELETE", `${project}/envs/${name}`),
        async () => {
          const [{ id }] = (await ask("GET", `${project}/trash?name=${name}`)).data
          await ask("POST", `${project}/trash/${id}/erase`, { name })
        }
      ]
      for (const [index, step] of steps.entries()) {
        // Longer for an erasure, which goes on after its answer.
        await killedIn(program, Math.random() * (index === 3 ? 150 : 25), step)
        program = await Program.start(variables, folder)
        const state = await stateOf(name)
        seen.add(`${index} ${state}`)
        if (state === "live") await checkWhole(name)
        if (state === "removed") {
          const [{ id }] = (await ask("GET", `${project}/trash?name=${name}`)).data
          await ask("POST", `${project}/trash/${id}/restore`, {})
          await checkWhole(name)
          await ask("DELETE", `${project}/envs/${name}`)
        }
        // The next step begins where this one was to end.
        const wanted = index === 1 ? "live" : "removed"
        const now = await stateOf(name)
        if (index === 3 || now === "gone") break
        if (now !== wanted) await step()
      }
    }
    assert.includeMembers([...seen], ["0 removed", "3 gone"])
    // The next servers erase the environments that were given up: by maintenance at a start, or within the hour.
    const verified = await ask("GET", "/api/orgs/acme/audit-logs/verify")
    assert.isTrue(verified.valid)
    await program.remove()
  })
})
