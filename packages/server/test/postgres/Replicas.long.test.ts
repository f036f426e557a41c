import { existsSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { parseExposition, valueOf } from "../observability/Exposition.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { Program } from "../support/Program.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(50)
}

const start = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      Program.start({
        SERVICE_DATABASE_URL: url,
        SERVICE_AUDIT_STREAM: "stream.jsonl",
        SERVICE_METRICS_PORT: "0",
        SUPERADMIN_EMAIL_0: "root@example.com"
      })
    ),
    (program) => Effect.promise(() => program.remove())
  )

const metric = async (program: Program, name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
  const [, page = ""] = await program.said(/metrics are at (http:\/\/[\d.:]+\/metrics)/)
  return valueOf(parseExposition(await (await fetch(page)).text()), name, labels) ?? 0
}

/** The runs of a job by all servers. */
const runsOf = async (servers: ReadonlyArray<Program>, job: string): Promise<number> => {
  const counts = await Promise.all(
    servers.map((server) => metric(server, "coffer_job_runs_total", { name: job, outcome: "done" }))
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

const streamers = (servers: ReadonlyArray<Program>) =>
  servers.filter(({ log }) => log.includes("this server does the job stream"))

describe("three servers on one database", () => {
  it.live("share the jobs: each is done once in its hour, and the stream goes over when its server ends", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      const instances = () =>
        Effect.runPromise(onServer(name, async (client) => (await client.query("SELECT id FROM instances")).rowCount))
      const doneHours = (job: string) =>
        Effect.runPromise(
          onServer(
            name,
            async (client) =>
              (await client.query("SELECT 1 FROM jobs WHERE name = $1 AND until IS NULL", [job])).rowCount
          )
        )
      const servers = yield* Effect.all([start(url), start(url), start(url)], { concurrency: 3 })
      yield* Effect.promise(async () => {
        assert.strictEqual(await instances(), 3)
        for (const job of ["heads", "wraps", "tidy"]) await until(async () => (await runsOf(servers, job)) > 0)
        await sleep(1_000)
        // Two hours have a row each if the second one has just begun.
        for (const job of ["heads", "wraps", "tidy"])
          assert.strictEqual(await runsOf(servers, job), await doneHours(job))

        await until(() => Promise.resolve(streamers(servers).length > 0))
        assert.lengthOf(streamers(servers), 1)
        const [first] = streamers(servers)
        assert.deepStrictEqual(await first?.stop(), { code: 0, signal: null })
        const others = servers.filter((server) => server !== first)
        await until(() => Promise.resolve(streamers(others).length > 0))
        assert.lengthOf(streamers(others), 1)
        assert.isAtLeast(await metric(others[0]!, "coffer_database_connections", { state: "idle" }), 1)
        const file = `${streamers(others)[0]?.folder}/stream.jsonl`
        await others[0]!.login("root@example.com")
        await until(() => Promise.resolve(existsSync(file) && readFileSync(file, "utf8").includes('"auth.login"')))
      })
      assert.strictEqual(yield* Effect.promise(instances), 2)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!isSoak)("take over the stream of a frozen server, which then finds its lease lost", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const servers = yield* Effect.all([start(url), start(url), start(url)], { concurrency: 3 })
      yield* Effect.promise(async () => {
        await until(() => Promise.resolve(streamers(servers).length > 0))
        const [frozen] = streamers(servers)
        const others = servers.filter((server) => server !== frozen)
        frozen?.signal("SIGSTOP")
        const began = performance.now()
        await until(() => Promise.resolve(streamers(others).length > 0))
        const seconds = (performance.now() - began) / 1000
        assert.isTrue(seconds > 20 && seconds < 40, String(seconds))
        assert.lengthOf(streamers(others), 1)
        frozen?.signal("SIGCONT")
        await frozen?.said(/this server has lost the lease of the job stream/)
        await sleep(5_000)
        assert.lengthOf([...(frozen?.log ?? "").matchAll(/this server does the job stream/g)], 1)
      })
    }).pipe(Effect.scoped)
  )
})
