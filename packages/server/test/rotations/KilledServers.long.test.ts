import { setTimeout } from "node:timers/promises"
import Sqlite from "better-sqlite3"
import { Effect, Exit, Scope } from "effect"
import { Client } from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"
import { hasMariaDb, type RenewedMariaDb, renewedMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { renewedDatabase, type RenewedDatabase, renewerPassword } from "../support/postgres/RenewedDatabase.js"
import { cleanUp, freshFolder, type Json, Program, type Variables } from "../support/Program.js"

// Servers that are killed within turns of rotations and while they make and remove users of leases: each stored value logs in at every
// moment, and no user is left over.

const kills = runs(5)
const env = "/api/orgs/acme/projects/webshop/envs/prod"
const states = ["idle", "drawn", "changed", "proved", "written"]
const variables = { SUPERADMIN_EMAIL_0: "root@example.com", SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** The servers of one store, which is read and written beside them. */
interface Servers {
  readonly count: number
  readonly variables: Variables
  readonly folders: ReadonlyArray<string>
  readonly rows: (statement: string) => Promise<Rows>
  readonly run: (statement: string) => Promise<unknown>
}

const random = (below: number): number => Math.floor(Math.random() * below)

let scope: Scope.CloseableScope
let postgres: RenewedDatabase
let mariaDb: RenewedMariaDb

const usersLeft = async () => {
  const [one, other] = await Promise.all([
    postgres.query("SELECT rolname FROM pg_roles WHERE rolname LIKE 'coffer\\_%'"),
    mariaDb.query("SELECT user FROM mysql.user WHERE user LIKE 'coffer\\_%'")
  ])
  return one.length + other.length
}

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 90_000; !(await isSo());) {
    assert.isBelow(Date.now(), end, what)
    await setTimeout(50)
  }
}

const ask = async (program: Program, token: string, method: string, path: string, body?: unknown): Promise<Json> => {
  const answer = await program.call(method, path, { token, ...(body !== undefined && { body }) })
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer.body
}

/** An environment with a rotation and a role at each database. Returns the token of its owner. */
const prepare = async (program: Program): Promise<string> => {
  const token = await program.login("root@example.com")
  const post = (path: string, body: unknown) => ask(program, token, "POST", path, body)
  await post("/api/orgs", { name: "acme" })
  await post("/api/orgs/acme/projects", { name: "webshop" })
  const set = {
    RENEWER: renewerPassword,
    POSTGRES_URL: `postgres://app_a:first-a@127.0.0.1:${postgres.port}/postgres`,
    MYSQL_URL: `mysql://app_a:first-a@127.0.0.1:${mariaDb.port}/shop_db`
  }
  await ask(program, token, "PATCH", `${env}/bundle`, { set })
  for (const { ca, kind, name, port } of [postgres, mariaDb]) {
    await post(`${env}/connections`, {
      ...{ name: kind, kind, host: "127.0.0.1", port, database: name, tls: "verify-ca", ca },
      ...{ user: "renewer", password_key: "RENEWER" }
    })
    const writes = { [`${kind.toUpperCase()}_URL`]: `${kind}://{user}:{password}@127.0.0.1:${port}/${name}` }
    await post(`${env}/rotations`, { name: kind, connection: kind, users: ["app_a", "app_b"], writes, every: "365d" })
    await post(`${env}/roles`, { name: kind, connection: kind })
  }
  return token
}

/** Reads the stored values all the time, from whichever server lives, and logs in with each. */
const watch = (any: () => Program, token: string) => {
  let isOver = false
  let logins = 0
  const refused: Array<string> = []
  const look = async () => {
    const read = await any()
      .call("GET", `${env}/bundle`, { token })
      .catch(() => undefined)
    if (read?.status !== 200) return
    const values = new Map<string, string>(read.body.data.map(({ key, value }: Json) => [key, value]))
    for (const [key, database] of [["POSTGRES_URL", postgres] as const, ["MYSQL_URL", mariaDb] as const]) {
      const { password, username } = new URL(values.get(key) ?? "")
      if (await database.admits(username, password)) logins += 1
      else refused.push(`${key}: ${username}`)
    }
  }
  const done = (async () => {
    while (!isOver) {
      await look()
      await setTimeout(10)
    }
  })()
  return async () => {
    isOver = true
    await done
    assert.deepStrictEqual(refused, [], "each stored value logs in at every moment")
    return logins
  }
}

const killing = async ({ count, folders, rows, run, variables }: Servers) => {
  const start = (index: number) => Program.start(variables, folders[index])
  const programs = [await start(0)]
  const [first] = programs
  const token = await prepare(first ?? assert.fail("no server"))
  for (let index = 1; index < count; index++) programs.push(await start(index))
  const living = new Set(programs)
  const any = () => [...living][random(living.size)] ?? first ?? assert.fail("no server")
  const end = watch(any, token)
  const found = new Map<string, number>()
  let holders = 0
  let failures = 0
  const leasesOf = async (): Promise<ReadonlyArray<Json>> => (await ask(any(), token, "GET", `${env}/leases`)).data
  const lease = (kind: string) =>
    any()
      .call("POST", `${env}/roles/${kind}/leases`, { token, body: {} })
      .catch(() => undefined)
  const isSettled = async () => {
    const all = await rows("SELECT state, due_at, failures FROM rotations")
    const failed = all.filter((row) => Number(row["failures"]) > 0)
    if (failed.length > 0) {
      failures += failed.length
      await run("UPDATE rotations SET failures = 0, due_at = 0 WHERE failures > 0")
    }
    return failed.length === 0 && all.every(({ due_at, state }) => state === "idle" && Number(due_at) > 0)
  }

  for (let round = 0; round < kills; round++) {
    const wanted = states[round % states.length]
    const old = await leasesOf()
    await run("UPDATE rotations SET due_at = 0")
    const leasing = [lease("postgres"), lease("mysql")]
    const revoking = old.map(({ id }) =>
      any()
        .call("DELETE", `${env}/leases/${id}`, { token })
        .catch(() => undefined)
    )
    for (let tries = 0; tries < 300; tries++) {
      const all = await rows("SELECT state FROM rotations")
      if (all.some(({ state }) => state === wanted)) break
      await setTimeout(1)
    }
    await setTimeout(random(wanted === "idle" ? 1_200 : 40))
    const holds = (program: Program) => program.log.includes("this server does the job rotations")
    const index = count > 1 && Math.random() < 0.75 ? programs.findIndex(holds) : random(count)
    const victim = programs[index] ?? assert.fail("no server does the turns")
    living.delete(victim)
    await victim.stop("SIGKILL")
    for (const { state } of await rows("SELECT state FROM rotations")) {
      found.set(String(state), (found.get(String(state)) ?? 0) + 1)
    }
    if (count > 1 && holds(victim)) {
      holders += 1
      // As if the lease of the dead server had passed.
      await run("UPDATE jobs SET until = '2026-01-01T00:00:00.000Z' WHERE name IN ('rotations', 'leases')")
    }
    const next = await start(index)
    programs[index] = next
    living.add(next)
    await Promise.all([...leasing, ...revoking])
    await until("all turns end", isSettled)
    if (count > 1) await until("one server does the turns", () => Promise.resolve(programs.some(holds)))
  }
  for (const { id } of await leasesOf()) await ask(any(), token, "DELETE", `${env}/leases/${id}`)
  await until("no user is left over", async () => (await usersLeft()) === 0)
  const logins = await end()
  for (const program of living) await program.stop("SIGKILL")
  const table = states.map((state) => `${state} ${found.get(state) ?? 0}`).join(", ")
  process.stdout.write(
    `${count} servers, ${kills} kills (${holders} of the one that turns), states of both rotations then: ${table}; ` +
      `${logins} logins, 0 refused; ${failures} steps failed and were repeated; 0 users left over\n`
  )
  assert.isAbove(logins, kills)
}

describe.skipIf(!hasMariaDb)("kill -9 (needs mariadbd)", { timeout: 3_600_000 }, () => {
  beforeAll(async () => {
    scope = Effect.runSync(Scope.make())
    const renewed = Effect.all([renewedDatabase, renewedMariaDb])
    ;[postgres, mariaDb] = await Effect.runPromise(Scope.extend(renewed, scope))
    await postgres.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
  }, 120_000)
  afterEach(async () => {
    for (const statement of ["ALTER ROLE app_a PASSWORD 'first-a'", "ALTER ROLE app_b PASSWORD 'first-b'"]) {
      await postgres.query(statement)
    }
    for (const user of ["a", "b"]) await mariaDb.query(`ALTER USER app_${user}@'%' IDENTIFIED BY 'first-${user}'`)
  })
  afterAll(async () => {
    cleanUp()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("of a server on SQLite leaves values that log in and no user", async () => {
    const folder = freshFolder()
    const on = <A>(use: (database: Sqlite.Database) => A): Promise<A> => {
      const database = new Sqlite(`${folder}/service.db`, { timeout: 10_000 })
      try {
        return Promise.resolve(use(database))
      } finally {
        database.close()
      }
    }
    await killing({
      ...{ count: 1, variables, folders: [folder] },
      rows: (statement) => on((database) => database.prepare<[], Record<string, unknown>>(statement).all()),
      run: (statement) => on((database) => database.exec(statement))
    })
  })

  it("of each of two servers on PostgreSQL leaves values that log in and no user", async () => {
    await postgres.query("CREATE DATABASE store")
    const url = `${postgres.cluster.url}/store`
    const on = async (statement: string): Promise<Rows> => {
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        return (await client.query<Record<string, unknown>>(statement)).rows
      } finally {
        await client.end()
      }
    }
    await killing({
      ...{ count: 2, folders: [freshFolder(), freshFolder()], rows: on, run: on },
      variables: { ...variables, SERVICE_DATABASE_URL: url }
    })
  })
})
