import { availableParallelism } from "node:os"
import { loadConfig } from "@coffer/server/base/Config"
import { workerEnvironment } from "@coffer/server/base/config/WorkerEnvironment"
import { dividePool, leastPool, poolFor } from "@coffer/server/base/config/WorkerSettings"
import { workerRole } from "@coffer/server/base/WorkerShare"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const least = { SERVICE_MASTER_KEY: "7".repeat(64), SMTP_HOST: "log" }
const postgres = { ...least, SERVICE_DATABASE_URL: "postgres://coffer:hunter2@127.0.0.1/coffer" }

const problemsOf = (environment: Readonly<Record<string, string>>) =>
  Effect.flip(loadConfig(environment)).pipe(Effect.map(({ problems }) => problems))

describe("the setting of workers", () => {
  it.effect("is one process by default, and a number, or that of the cores", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* loadConfig(postgres)).workers, 1)
      assert.strictEqual((yield* loadConfig({ ...postgres, SERVICE_WORKERS: "3" })).workers, 3)
      const auto = yield* loadConfig({ ...postgres, SERVICE_WORKERS: "auto" })
      assert.strictEqual(auto.workers, Math.min(8, availableParallelism()))
      for (const wrong of ["0", "17", "1.5", "-1", "01", "all"]) {
        const [problem] = yield* problemsOf({ ...postgres, SERVICE_WORKERS: wrong })
        assert.deepStrictEqual(problem, {
          variable: "SERVICE_WORKERS",
          rule: "must be auto or a whole number from 1 to 16"
        })
      }
    })
  )

  it.effect("is refused with the embedded database, and the message names the next step", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* loadConfig({ ...least, SERVICE_WORKERS: "1" })).workers, 1)
      for (const workers of ["2", "auto"]) {
        const problems = yield* problemsOf({ ...least, SERVICE_WORKERS: workers })
        assert.deepStrictEqual(
          problems.map(({ variable }) => variable),
          ["SERVICE_WORKERS"]
        )
        assert.match(problems[0]?.rule ?? "", /must be 1 without SERVICE_DATABASE_URL, .*: remove it, or move to/)
      }
    })
  )

  it.effect("needs a pool that has two connections for each process", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* loadConfig({ ...postgres, SERVICE_WORKERS: "8" })).postgres?.connections, 34)
      const enough = yield* loadConfig({ ...postgres, SERVICE_WORKERS: "3", SERVICE_DATABASE_POOL: "8" })
      assert.strictEqual(enough.postgres?.connections, 8)
      const [problem] = yield* problemsOf({ ...postgres, SERVICE_WORKERS: "3", SERVICE_DATABASE_POOL: "7" })
      assert.strictEqual(problem?.variable, "SERVICE_DATABASE_POOL")
      assert.match(problem?.rule ?? "", /^must be at least 8 with SERVICE_WORKERS=3: /)
    })
  )

  it("never opens more connections than the pool has, and gives each process two at least", () => {
    assert.strictEqual(poolFor(1), 10)
    for (let workers = 2; workers <= 16; workers++) {
      for (const pool of [leastPool(workers), poolFor(workers), 100]) {
        const { each, main } = dividePool(pool, workers)
        assert.isAtMost(main + workers * each, pool)
        assert.isAtLeast(Math.min(main, each), 2)
        assert.isAtMost(main, Math.max(2, each))
      }
    }
  })

  it.effect("gives workers the secrets that the main process has read, and no way to read them again", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "coffer-workers-"))
      const [key, url] = [join(folder, "key"), join(folder, "url")]
      writeFileSync(key, `${"8".repeat(64)}\n`, { mode: 0o600 })
      writeFileSync(url, "postgres://coffer:hunter2@127.0.0.1/coffer\n", { mode: 0o600 })
      const environment = {
        SMTP_HOST: "log",
        SERVICE_MASTER_KEY_FILE: key,
        SERVICE_DATABASE_URL_FILE: url,
        SERVICE_DATABASE_MIGRATE_URL: "postgres://owner:hunter3@127.0.0.1/coffer",
        SERVICE_WORKERS: "3",
        SERVICE_LOG_FORMAT: "pretty"
      }
      const secrets = new Map<string, string>()
      const settings = yield* loadConfig(environment, (variable, value) => secrets.set(variable, value))
      rmSync(folder, { recursive: true })
      if (settings.postgres === null) return assert.fail()
      const variables = workerEnvironment(environment, settings, settings.postgres, secrets)
      const worker = yield* loadConfig(variables)
      assert.strictEqual(Redacted.value(worker.masterKey), "8".repeat(64))
      assert.strictEqual(worker.postgres?.target.database, "coffer")
      assert.strictEqual(worker.postgres?.connections, 4)
      assert.strictEqual(worker.postgres?.migrate, "check")
      assert.isNull(worker.postgres?.migrateTarget)
      assert.strictEqual(worker.workers, 1)
      assert.strictEqual(worker.logFormat, "pretty")
    })
  )
})

describe("the words of a worker's command", () => {
  it("are the number of workers and its own", () => {
    assert.deepStrictEqual(workerRole(["worker", "3", "2"]), { workers: 3, number: 2 })
    for (const words of [
      [],
      ["worker"],
      ["worker", "3"],
      ["worker", "0", "1"],
      ["worker", "3", "x"],
      ["broker", "3", "1"]
    ]) {
      assert.isNull(workerRole(words))
    }
  })
})
