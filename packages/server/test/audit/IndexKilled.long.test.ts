import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { SecretKey } from "@coffer/domain/base/Names"
import { auditRuns } from "@coffer/server/database/migrations/0028_audit_runs"
import { sqliteStatements } from "@coffer/server/database/Migration"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { everythingAt } from "../model/Support.js"
import { databaseOfSchema } from "../support/EarlierSchema.js"
import { masterKey } from "../support/Invariants.js"
import { cleanUp, Program } from "../support/Program.js"
import { freshPath, invariants } from "../support/Services.js"
import { newOrganization, write } from "../trail/Support.js"

/** 20 in a soak: each takes some ten seconds. */
const rounds = isSoak ? 20 : 1
const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

afterAll(() => {
  cleanUp()
})

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const onFile = <A>(path: string, use: (database: Sqlite.Database) => A): A => {
  const database = new Sqlite(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const numberOf = (path: string, statement: string) =>
  onFile(path, (database) => database.prepare<[], number>(statement).pluck().get() ?? 0)

const indexed = (path: string) => numberOf(path, "SELECT coalesce(sum(seq), 0) FROM audit_indexed")
const behind = (path: string) => numberOf(path, "SELECT sum(seq) FROM audit_heads") - indexed(path)

const variablesOf = (path: string) => ({
  SERVICE_MASTER_KEY: masterKey,
  SERVICE_DB_PATH: path,
  SUPERADMIN_EMAIL_0: "root@example.com"
})

/** Starts a server and kills it as soon as something is true of its files. */
const killedOnce = async (path: string, isDue: () => boolean) => {
  const env = { PATH: process.env["PATH"], SMTP_HOST: "log", SERVICE_PORT: "0", ...variablesOf(path) }
  const child = spawn(process.execPath, [bin], { cwd: dirname(path), env, stdio: "ignore" })
  const ended = once(child, "close")
  while (!isDue()) await pause(1)
  child.kill("SIGKILL")
  await ended
}

/** 20,000 entries of many keys and some actors, so that the index is built in more than ten batches. */
const filled = Effect.gen(function* () {
  const path = yield* freshPath
  const log = yield* Effect.gen(function* () {
    const log = yield* newOrganization("acme")
    const other = yield* newOrganization("other", "bob@example.com")
    const happenings = Array.from({ length: 400 }, (_, n) => ({
      n,
      actor: ["ada", "bob", "eve"][n % 3] ?? "ada",
      action: n % 7 === 0 ? ("secret.delete" as const) : ("secret.set" as const),
      metadata: { project: "web", env: "prod", key: SecretKey.make(`KEY_${n % 11}_${"x".repeat(80)}`) }
    }))
    for (let n = 0; n < 50; n++) yield* write(n % 5 === 0 ? other.id : log.id, ...happenings)
    return log
  }).pipe(Effect.provide(everythingAt(path)))
  return { path, log }
})

/** Returns the expected page and total of a filter, computed from the entries themselves. */
const model = (path: string, log: string | null, condition: string) =>
  onFile(path, (database) => {
    const where = `WHERE ${condition}${log === null ? "" : ` AND log = '${log}'`}`
    return {
      total: database.prepare(`SELECT count(*) FROM audit_entries ${where}`).pluck().get(),
      ids: database.prepare(`SELECT id FROM audit_entries ${where} ORDER BY position DESC LIMIT 20`).pluck().all()
    }
  })

const filters: Readonly<Record<string, string>> = {
  "action=secret.delete": "action = 'secret.delete'",
  "resource_type=secret": "resource_type = 'secret'",
  "actor_id=bob": "actor_id = 'bob'",
  "actor_id=eve&action=secret.delete": "actor_id = 'eve' AND action = 'secret.delete'",
  "project=web&env=prod": "json_extract(metadata, '$.project') = 'web' AND json_extract(metadata, '$.env') = 'prod'",
  [`key=KEY_3_${"x".repeat(80)}`]: `json_extract(metadata, '$.key') = 'KEY_3_${"x".repeat(80)}'`
}

describe("a server killed while the search index follows the audit log", () => {
  it.scopedLive(
    `has every entry in it once after the next start, ${rounds} times, and after a migration that was killed`,
    () =>
      Effect.gen(function* () {
        const { log, path: content } = yield* filled
        const path = yield* databaseOfSchema(27, content)
        const at = (suffix: string) => existsSync(`${path}${suffix}`)
        let token: string | undefined

        const matches = async (server: Program, round: string) => {
          token ??= await server.login("root@example.com")
          const call = async (path: string) => (await server.call("GET", path, { token })).body
          for (const [query, condition] of Object.entries(filters)) {
            for (const org of [null, log.id]) {
              const { data, pagination } = await call(`/api/audit-logs?${query}${org === null ? "" : `&org_id=${org}`}`)
              const ids = data.map(({ id }: { readonly id: string }) => id)
              assert.deepStrictEqual(
                { total: pagination.total, ids },
                model(path, org, condition),
                `${round}: ${query}`
              )
            }
          }
          assert.isTrue((await call(`/api/audit-logs/verify?org_id=${log.id}`)).valid, round)
        }

        // In the middle of the migration, or right behind it.
        yield* Effect.promise(() => killedOnce(path, () => at(".before-0028")))
        yield* Effect.promise(() => killedOnce(path, () => at(".before-0028") && numberOf(path, isMigrated) > 0))
        let inTheMiddle = 0
        for (let round = 1; round <= rounds; round++) {
          yield* Effect.promise(() => killedOnce(path, () => indexed(path) > 0 || behind(path) === 0))
          if (behind(path) > 0) inTheMiddle++
          yield* invariants(path)
          const server = yield* Effect.promise(() => Program.start(variablesOf(path), dirname(path)))
          assert.strictEqual(behind(path), 0, "before it serves")
          yield* Effect.promise(() => matches(server, `round ${round}`))
          // And while it serves: the entries of this wait for up to a second.
          const set = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`R${round}_${n}`, "x"]))
          yield* Effect.promise(async () => {
            const name = `org-${round}`
            await server.call("POST", "/api/orgs", { token, body: { name } })
            await server.call("POST", `/api/orgs/${name}/projects`, { token, body: { name: "web" } })
            await server.call("PATCH", `/api/orgs/${name}/projects/web/envs/prod/bundle`, { token, body: { set } })
            await pause(900 + Math.random() * 300)
            server.signal("SIGKILL")
            await server.ended
          })
          yield* invariants(path)
          if (round < rounds) onFile(path, (database) => emptied.forEach((statement) => database.exec(statement)))
        }
        assert.isAtLeast(inTheMiddle, rounds / 2)
        const last = yield* Effect.promise(() => Program.start(variablesOf(path), dirname(path)))
        yield* Effect.promise(() => matches(last, "at the end"))
        yield* Effect.promise(() => last.stop())
        yield* invariants(path)
      }),
    600_000
  )
})

const isMigrated = "SELECT count(*) FROM effect_sql_migrations WHERE migration_id = 28"
/** The migration's statements that empty the index. */
const emptied = sqliteStatements(auditRuns).filter((statement) => statement.startsWith("DELETE"))
