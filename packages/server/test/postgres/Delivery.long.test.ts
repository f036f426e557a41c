import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { token as credential } from "../delivery/KvServer.js"
import { gitlabPlatform } from "../delivery/platforms/GitlabPlatform.js"
import { StandIn } from "../delivery/platforms/StandIn.js"
import { freshDatabase } from "../support/postgres/Databases.js"
import { cleanUp, type Json, Program } from "../support/Program.js"

// GitLab has no compare-and-set: what reaches it last is there.

afterAll(cleanUp)

const project = "/api/orgs/acme/projects/webshop"
const keys = Array.from({ length: 16 }, (_none, index) => `KEY_${index}`)

const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; !(await isSo()); tries++) {
    assert.isBelow(tries, 1_000, what)
    await sleep(100)
  }
}

const start = (url: string) =>
  Program.start({
    SERVICE_DATABASE_URL: url,
    SUPERADMIN_EMAIL_0: "ada@example.com",
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8"
  })

/** Servers of one database; the first does the job of pushes. */
const pair = async (url: string) => {
  const first = await start(url)
  await until("no server pushes", () => first.log.includes("this server does the job pushes"))
  const second = await start(url)
  const token = await first.login("ada@example.com")
  const ok = async (server: Program, method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await server.call(method, path, { token, body })
    assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
    return answer.body
  }
  await ok(first, "POST", "/api/orgs", { name: "acme" })
  await ok(first, "POST", "/api/orgs/acme/projects", { name: "webshop" })
  return { first, second, token, ok }
}

/** Writes all keys of an environment. */
const bundle = (value: string) => ({ set: Object.fromEntries(keys.map((key) => [key, value])) })

/** A project of GitLab, and the target for it in an environment of its own. */
const targetIn = async ({ first, ok }: Awaited<ReturnType<typeof pair>>, env: string, automatic: "off" | "push") => {
  const platform = gitlabPlatform(`/api/v4/projects/acme%2F${env}/variables`)
  const standIn = await StandIn.start(platform, 300)
  const at = `${project}/envs/${env}`
  await ok(first, "PUT", `${at}/secrets/TOKEN`, { value: credential })
  await ok(first, "PATCH", `${at}/bundle`, bundle("old"))
  await ok(first, "POST", `${at}/targets`, {
    ...{ name: "ci", kind: "gitlab", credential_key: "TOKEN", automatic },
    place: { url: standIn.url, project: `acme/${env}` }
  })
  const isWhole = (value: string) => () => keys.every((key) => platform.values()[key] === value)
  const push = async (server: Program) => {
    const { plan } = await ok(server, "POST", `${at}/targets/ci/plan`, {})
    return plan as string
  }
  return { at, isWhole, plan: push, platform, standIn }
}

describe("a server paused within a push", () => {
  it.live(
    "sends nothing after it goes on, because another one has pushed newer values",
    () =>
      Effect.scoped(
        Effect.flatMap(freshDatabase(), ({ url }) =>
          Effect.promise(async () => {
            const servers = await pair(url)
            const { first, ok, second, token } = servers
            const byHand = await targetIn(servers, "dev", "off")
            const byItself = await targetIn(servers, "prod", "push")
            const both = [byHand, byItself]
            const planned = await byHand.plan(first)
            let paused = false
            for (const { standIn } of both) {
              standIn.before = () => {
                if (!paused && both.every((one) => one.standIn.writes().length >= 3)) {
                  paused = true
                  first.signal("SIGSTOP")
                }
                return undefined
              }
            }
            const late = first.call("POST", `${byHand.at}/targets/ci/push`, { token, body: { plan: planned } })
            await until("the first server does not push", () => paused)
            assert.isBelow(Math.max(...both.map(({ standIn }) => standIn.writes().length)), keys.length)

            for (const { at } of both) await ok(second, "PATCH", `${at}/bundle`, bundle("new"))
            await until("the second server cannot push", async () => {
              const plan = await byHand.plan(second)
              const answer = await second.call("POST", `${byHand.at}/targets/ci/push`, { token, body: { plan } })
              return answer.status === 200
            })
            for (const { isWhole } of both) await until("the newest values are not there", isWhole("new"))

            const before = both.map(({ standIn }) => standIn.writes().length)
            first.signal("SIGCONT")
            assert.notStrictEqual((await late).status, 200)
            await sleep(5_000)
            assert.deepStrictEqual(
              both.map(({ standIn }) => standIn.writes().length),
              before
            )
            for (const { at, isWhole, standIn } of both) {
              assert.isTrue(isWhole("new")())
              const { data } = await ok(second, "POST", `${at}/targets/ci/plan`, {})
              assert.sameMembers(
                data.map(({ change }: { change: string }) => change),
                keys.map(() => "same")
              )
              await standIn.stop()
            }
            await Promise.all([first.stop(), second.stop()])
          })
        )
      ),
    200_000
  )
})
