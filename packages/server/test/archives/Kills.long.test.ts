import { structureLines } from "@coffer/domain/archive/Calls"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"

// A server is killed at many moments of an import: nothing of it may be seen before its end, and then all of it.

afterAll(cleanUp)

const settings = { SERVICE_ORG_CREATION: "anyone" }
const mail = (index: number) => `member-${index}@example.com`
const people = 900

const structure = {
  passkey_recovery: "login" as const,
  members: Array.from({ length: people }, (_, index) => ({ email: mail(index), role: "developer" as const })),
  groups: [{ name: "Everybody", members: Array.from({ length: people }, (_, index) => mail(index)) }],
  mappings: [],
  projects: Array.from({ length: 6 }, (_, index) => ({
    ...{ name: `project-${index}`, strict: false },
    environments: Array.from({ length: 60 }, (_, env) => ({ name: `env-${env}` }))
  })),
  accounts: Array.from({ length: 300 }, (_, index) => ({ name: `account ${index}`, reveal: true, federations: [] })),
  rules: Array.from({ length: people }, (_, index) => ({
    ...{ subject_type: "user" as const, subject: mail(index), permission: "read" as const },
    ...{ project_pattern: "project-*", env_pattern: "*" }
  })),
  webhooks: []
}
const organization = structureLines(structure)
const created_at = "2026-01-31T12:00:00.000Z"
const versions = Array.from({ length: 200 }, (_, index) => ({
  ...{ key: `KEY_${index}`, version: 1, revision: 1, value: `value ${index}`, note: "all at once" },
  ...{ created_at, created_by: "ada@example.com", current: { use_rules: [] } }
}))
const counts = { projects: 6, environments: 360, secrets: 200, versions: 200, use_rules: 0, declared: 1 }

/** A server that is killed and started again on its files. */
const mortal = async () => {
  const folder = freshFolder()
  let program = await Program.start(settings, folder)
  const token = await program.login("ada@example.com")
  const call = (method: string, path: string, body?: unknown) => program.call(method, path, { token, body })
  return {
    call,
    /** Kills the server during a call. Answers the call's status; 0 if it got no answer. */
    killedDuring: async (millis: number, method: string, path: string, body: unknown): Promise<Json> => {
      const answer = call(method, path, body).catch(() => ({ status: 0, body: undefined }))
      await sleep(millis)
      await program.stop("SIGKILL")
      const found = await answer
      program = await Program.start(settings, folder)
      return found
    },
    stop: () => program.stop("SIGKILL")
  }
}
type Mortal = Awaited<ReturnType<typeof mortal>>

const begin = async ({ call }: Mortal, name: string): Promise<string> => {
  const made = await call("POST", "/api/imports", { name, organization })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.id
}

const send = async ({ call }: Mortal, id: string) => {
  const declared = { project: "project-0", data: [{ key: "KEY_0", description: "the first" }] }
  assert.strictEqual((await call("PUT", `/api/imports/${id}/declared`, declared)).status, 204)
  const secrets = { project: "project-0", env: "env-0", data: versions }
  assert.strictEqual((await call("PUT", `/api/imports/${id}/secrets`, secrets)).status, 204)
}

const names = async ({ call }: Mortal): Promise<ReadonlyArray<string>> =>
  (await call("GET", "/api/orgs")).body.data.map(({ name }: Json) => name)

/** All of an organization is there. */
const assertWhole = async ({ call }: Mortal, name: string) => {
  const at = `/api/orgs/${name}`
  const lengthOf = async (path: string) => (await call("GET", `${at}${path}`)).body.data.length
  assert.strictEqual(await lengthOf("/members"), people + 1)
  assert.strictEqual(await lengthOf("/groups/Everybody/members"), people)
  assert.strictEqual(await lengthOf("/acl"), people)
  assert.strictEqual(await lengthOf("/service-accounts"), 300)
  const bundle = await call("GET", `${at}/projects/project-0/envs/env-0/bundle`)
  assert.strictEqual(Object.keys(bundle.body.secrets ?? bundle.body.data).length, 200, bundle.text.slice(0, 200))
  const revisions = (await call("GET", `${at}/projects/project-0/envs/env-0/revisions`)).body.data
  assert.deepStrictEqual(
    revisions.map(({ note }: Json) => note),
    ["all at once"]
  )
}

/** How long something takes, in milliseconds. */
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

describe("a server killed", () => {
  it("while it makes an import leaves nothing visible, and the name free", async () => {
    const server = await mortal()
    const whole = await timed(() => begin(server, "measured"))
    for (const [index, part] of [0.2, 0.4, 0.6, 0.8].entries()) {
      const name = `killed-${index}`
      const { status } = await server.killedDuring(whole * part, "POST", "/api/imports", { name, organization })
      assert.include([0, 201], status)
      assert.notInclude(await names(server), name)
      assert.strictEqual((await server.call("POST", "/api/orgs", { name })).status, 201)
    }
    await server.stop()
  })

  it("while it finishes an import shows nothing of it, and goes on at the next call until all of it is there", async () => {
    const server = await mortal()
    const first = await begin(server, "measured")
    await send(server, first)
    const finish = (id: string) => server.call("POST", `/api/imports/${id}/finish`, { counts })
    const whole = await timed(async () => assert.strictEqual((await finish(first)).status, 200))
    await assertWhole(server, "measured")
    for (const [index, parts] of [[0.15, 0.3], [0.5, 0.2, 0.2], [0.8], [0.95]].entries()) {
      const name = `killed-${index}`
      const id = await begin(server, name)
      await server.killedDuring(1, "PUT", `/api/imports/${id}/secrets`, {
        ...{ project: "project-0", env: "env-0" },
        data: versions
      })
      await send(server, id)
      let isFinished = false
      for (const part of parts) {
        const { status } = await server.killedDuring(whole * part, "POST", `/api/imports/${id}/finish`, { counts })
        isFinished = (await names(server)).includes(name)
        if (status === 200) assert.isTrue(isFinished)
        if (isFinished) break
      }
      const last = await finish(id)
      assert.strictEqual(last.status, isFinished ? 404 : 200, last.text)
      await assertWhole(server, name)
    }
    await server.stop()
  })
})
