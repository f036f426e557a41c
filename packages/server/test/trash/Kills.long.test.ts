import { afterAll, assert, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"

// A server that is killed while it removes, restores and erases: what it leaves is removed or live as a whole, or nothing brings it
// back; and the next server goes on.

afterAll(cleanUp)

/** Of each kind. */
const rounds = isSoak ? 20 : 4
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

/** A kind of place that is removed, with 400 keys in one of its environments. */
interface Kind {
  readonly path: (name: string) => string
  readonly list: string
  readonly trash: string
  readonly bundle: (name: string) => string
  readonly parts: (name: string) => ReadonlyArray<readonly [path: string, name: string]>
}

const kinds: Readonly<Record<string, Kind>> = {
  environment: {
    path: (name) => `${project}/envs/${name}`,
    list: `${project}/envs`,
    trash: `${project}/trash`,
    bundle: (name) => `${project}/envs/${name}/bundle`,
    parts: (name) => [[`${project}/envs`, name]]
  },
  project: {
    path: (name) => `/api/orgs/acme/projects/${name}`,
    list: "/api/orgs/acme/projects",
    trash: "/api/orgs/acme/trash",
    bundle: (name) => `/api/orgs/acme/projects/${name}/envs/prod/bundle`,
    parts: (name) => [["/api/orgs/acme/projects", name]]
  },
  organization: {
    path: (name) => `/api/orgs/${name}`,
    list: "/api/orgs",
    trash: "/api/trash",
    bundle: (name) => `/api/orgs/${name}/projects/webshop/envs/prod/bundle`,
    parts: (name) => [
      ["/api/orgs", name],
      [`/api/orgs/${name}/projects`, "webshop"]
    ]
  }
}

describe("kill -9", { timeout: 600_000 }, () => {
  it.each(Object.entries(kinds))(
    "leaves a removed %s whole, live or given up, and the next server goes on",
    async (kind, { bundle, list, parts, path, trash }) => {
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
      const removedOf = async (name: string): Promise<ReadonlyArray<Json>> =>
        (await ask("GET", `${trash}?name=${name}`)).data

      /** Where it is, which is in one place alone. */
      const stateOf = async (name: string): Promise<"live" | "removed" | "gone"> => {
        const isLive = (await ask("GET", list)).data.some((one: Json) => one.name === name)
        const { length } = await removedOf(name)
        assert.isAtMost(Number(isLive) + length, 1)
        return isLive ? "live" : length === 1 ? "removed" : "gone"
      }
      const checkWhole = async (name: string) => {
        const { data } = await ask("GET", bundle(name))
        assert.strictEqual(data.length, keys)
        for (const { key, value } of data) assert.strictEqual(`K_${value.slice(1)}`, key)
      }
      const restore = async (name: string) => {
        const [{ id }] = await removedOf(name)
        await ask("POST", `${trash}/${id}/restore`, {})
      }

      const seen = new Set<string>()
      for (let round = 0; round < rounds; round++) {
        const name = `${kind.slice(0, 3)}-${round}`
        for (const [at, part] of parts(name)) await ask("POST", at, { name: part })
        await ask("PATCH", bundle(name), { set })
        const steps = [
          () => ask("DELETE", path(name)),
          () => restore(name),
          () => ask("DELETE", path(name)),
          async () => {
            const [{ id }] = await removedOf(name)
            await ask("POST", `${trash}/${id}/erase`, { name })
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
            await restore(name)
            await checkWhole(name)
            await ask("DELETE", path(name))
          }
          // The next step begins where this one was to end.
          const wanted = index === 1 ? "live" : "removed"
          const now = await stateOf(name)
          if (index === 3 || now === "gone") break
          if (now !== wanted) await step()
        }
      }
      assert.includeMembers([...seen], ["0 removed", "3 gone"])
      // The next servers erase what was given up: by maintenance at a start, or within the hour.
      const verified = await ask("GET", "/api/orgs/acme/audit-logs/verify")
      assert.isTrue(verified.valid)
      await program.remove()
    }
  )
})
