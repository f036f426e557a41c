import { check } from "@coffer/server/operations/check/Check"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { freshDatabase, onServer, serverUrl } from "../support/postgres/Databases.js"
import { freshPath, masterKey, servicesIn } from "../support/Services.js"

interface Finding {
  readonly name: string
  readonly status: string
  readonly message: string
}

const findings = (url: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    yield* check(
      { SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", SERVICE_DATABASE_URL: url, ...environment },
      { json: true, mailTo: null }
    ).pipe(Effect.withConsole({ ...console, log: (line: unknown) => Effect.sync(() => void said.push(String(line))) }))
    const { checks } = JSON.parse(said.join("")) as { checks: ReadonlyArray<Finding> }
    return (name: string) => checks.filter((finding) => finding.name === name)
  })

describe("coffer-server check on PostgreSQL", () => {
  it.live("tells of the database, its weak settings, the schema, the rights, the key and the clock", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      yield* Effect.provide(Effect.void, servicesIn({ name, path: yield* freshPath }))
      const of = yield* findings(url)
      assert.match(of("database")[0]?.message ?? "", /is reached without TLS, PostgreSQL \d+.*, role coffer$/)
      assert.isTrue(
        of("database").some(({ message, status }) => status === "warning" && message.includes("fsync is off"))
      )
      for (const one of ["schema", "rights", "key", "clock"]) {
        assert.deepStrictEqual(
          of(one).map(({ status }) => status),
          ["ok"],
          one
        )
      }
      assert.match(of("files")[0]?.message ?? "", /no other user can read the files of secrets/)
      assert.deepStrictEqual(of("disk"), [], "it writes no files without backups")

      const wrong = yield* findings(url, { SERVICE_MASTER_KEY: "ab".repeat(32) })
      assert.match(wrong("key")[0]?.message ?? "", /does not open the database/)
    }).pipe(Effect.scoped)
  )

  it.live("fails for a role without rights, a schema due for migration, and a missing database", () =>
    Effect.gen(function* () {
      const { name, url } = yield* freshDatabase()
      yield* onServer(name, (client) =>
        client.query(
          `DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO poor`
        )
      )
      const poor = yield* findings(url.replace("coffer@", "poor@"))
      assert.match(poor("rights")[0]?.message ?? "", /the role poor lacks rights on .*secrets/)
      yield* onServer(name, (client) =>
        client.query(
          `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO poor; REVOKE INSERT ON audit_entries FROM poor`
        )
      )
      const silent = yield* findings(url.replace("coffer@", "poor@"))
      assert.match(silent("rights")[0]?.message ?? "", /the role poor lacks rights on audit_entries$/)
      yield* onServer(name, (client) => client.query("GRANT INSERT ON audit_entries TO poor"))
      assert.strictEqual((yield* findings(url.replace("coffer@", "poor@")))("rights")[0]?.status, "ok")
      yield* onServer(name, (client) => client.query("DROP OWNED BY poor; DROP ROLE poor"))

      const { url: empty } = yield* freshDatabase({ migrated: false })
      const due = yield* findings(empty, { SERVICE_DATABASE_MIGRATE: "check" })
      assert.strictEqual(due("schema")[0]?.status, "failed")

      const absent = yield* findings(`${serverUrl()}/nowhere`)
      assert.strictEqual(absent("database")[0]?.status, "failed")
      assert.match(absent("database")[0]?.message ?? "", /nowhere at 127\.0\.0\.1.*does not exist/)
    }).pipe(Effect.scoped)
  )
})
