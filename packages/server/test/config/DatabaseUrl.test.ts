import { loadConfig } from "@coffer/server/base/Config"
import { type DatabaseTarget, parseDatabaseUrl, targetName } from "@coffer/server/base/config/DatabaseUrl"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"

const parsed = (url: string): DatabaseTarget => Either.getOrThrow(parseDatabaseUrl(url))

const shown = (url: string) => {
  const { database, host, password, port, tls, user } = parsed(url)
  return [host, port, user, password === null ? null : Redacted.value(password), database, tls.mode]
}

describe("the URL of a PostgreSQL database", () => {
  const user = Redacted.value(Redacted.make(parsed("postgres://localhost").user))

  it.each([
    ["postgres://coffer:p%40ss@db.example.com:6432/app", ["db.example.com", 6432, "coffer", "p@ss", "app", "require"]],
    ["postgresql://coffer@db.example.com", ["db.example.com", 5432, "coffer", null, "coffer", "require"]],
    ["postgres://coffer@127.0.0.1/app", ["127.0.0.1", 5432, "coffer", null, "app", "disable"]],
    ["postgres://coffer@[::1]:5433/app", ["::1", 5433, "coffer", null, "app", "disable"]],
    ["postgres://coffer@[2001:db8::1]/app", ["2001:db8::1", 5432, "coffer", null, "app", "require"]],
    ["postgres://coffer@localhost/app?sslmode=verify-full", ["localhost", 5432, "coffer", null, "app", "verify-full"]],
    ["postgres://c@h/app?sslrootcert=system", ["h", 5432, "c", null, "app", "verify-full"]],
    ["postgres://c@%2Frun%2Fpostgresql:5433/app", ["/run/postgresql", 5433, "c", null, "app", "disable"]],
    ["postgres:///app?host=/run/postgresql&user=c", ["/run/postgresql", 5432, "c", null, "app", "disable"]],
    ["postgres://c:x@/app?host=/run/postgresql", ["/run/postgresql", 5432, "c", "x", "app", "disable"]],
    ["postgres://h?dbname=app&user=u&password=%20&port=1", ["h", 1, "u", " ", "app", "require"]],
    ["postgres://h", ["h", 5432, user, null, user, "require"]]
  ])("names the server, the role and the database as libpq reads it: %s", (url, expected) => {
    assert.deepStrictEqual(shown(url), expected)
  })

  it.each([
    ["mysql://c:geheim@h/app", /^must be postgres:/],
    ["postgres://c:geheim@h:99999/app", /port from 1 to 65535/],
    ["postgres://c:geheim@h1,h2/app", /must name one host/],
    ["postgres://c:ge%zzheim@h/app", /^must be postgres:/],
    ["postgres://c:ge/heim@h/app", /^must be postgres:/],
    ["postgres://c:geheim@h/app?sslmode=geheim", /sslmode one of disable/],
    ["postgres://c:geheim@h/app?geheim=1", /has an unknown parameter: use only/],
    ["postgres://c:geheim@h/app?sslmode=require&sslrootcert=system", /sslmode=verify-full/]
  ])("is refused with what is wrong, and never repeated: %s", (url, rule) => {
    const problem = Either.getOrThrow(Either.flip(parseDatabaseUrl(url)))
    assert.match(problem, rule)
    assert.notMatch(problem, /geheim|heim@/)
  })

  it("shows its host and database only", () => {
    assert.strictEqual(targetName(parsed("postgres://c:geheim@db:6432/app?sslmode=disable")), "app at db:6432")
    assert.strictEqual(targetName(parsed("postgres://c:geheim@/app?host=/run/pg")), "app at /run/pg")
  })
})

const base = { SERVICE_MASTER_KEY: "ab".repeat(32), SMTP_HOST: "log" }
const url = "postgres://coffer:geheim@db/app"

describe("the settings of PostgreSQL", () => {
  it.effect("have defaults", () =>
    Effect.gen(function* () {
      const { dbPath, postgres } = yield* loadConfig({ ...base, SERVICE_DATABASE_URL: url })
      assert.deepStrictEqual(
        [dbPath, postgres?.connections, postgres?.prepared, postgres?.migrate],
        ["service", 10, true, "auto"]
      )
      assert.isNull(postgres?.migrateTarget)
    })
  )

  it.effect.each([
    [{ SERVICE_DATABASE_URL: url, SERVICE_DB_PATH: "a.db" }, "SERVICE_DB_PATH and SERVICE_DATABASE_URL are both set"],
    [{ SERVICE_DATABASE_POOL: "5" }, "SERVICE_DATABASE_POOL has no effect without SERVICE_DATABASE_URL"],
    [
      { SERVICE_DATABASE_URL: url, SERVICE_DATABASE_POOL: "1" },
      "SERVICE_DATABASE_POOL must be a whole number from 2 to 100"
    ],
    [{ SERVICE_DATABASE_URL: url, SERVICE_DATABASE_MIGRATE: "no" }, "SERVICE_DATABASE_MIGRATE must be auto or check"],
    [
      { SERVICE_DATABASE_URL: url, SERVICE_DATABASE_MIGRATE_URL: "geheim" },
      "SERVICE_DATABASE_MIGRATE_URL must be postgres:"
    ],
    [{ SERVICE_DATABASE_URL: "geheim" }, "SERVICE_DATABASE_URL must be postgres:"]
  ] as const)("are refused when they contradict each other: %j", ([environment, message]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(loadConfig({ ...base, ...environment }))
      assert.include(error.message, message)
      assert.notInclude(error.message, "geheim")
    })
  )
})
