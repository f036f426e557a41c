import { Database } from "@coffer/server/database/Database"
import { retriedTransactions } from "@coffer/server/database/DatabaseMetrics"
import { Fence, fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { ruleExpiry } from "@coffer/server/directory/acl/RuleExpiry"
import { requestExpiry } from "@coffer/server/directory/requests/RequestExpiry"
import { keyNotice } from "@coffer/server/directory/service-accounts/KeyExpiry"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { dueEvents } from "@coffer/server/secrets/dues/Events"
import { environmentExpiry, environmentNotice } from "@coffer/server/secrets/environments/EnvironmentExpiry"
import { Effect, Logger, LogLevel, Metric } from "effect"
import { Client } from "pg"
import { assert, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { sceneSettings } from "../authorization/Scene.js"
import { serverUrl } from "../support/postgres/Databases.js"
import { startServers } from "../support/postgres/Running.js"
import { freshPath, servicesIn } from "../support/Services.js"
import { makeTraffic } from "./deadlocks/Traffic.js"

// People and accounts change everything in a few places at once, on two servers, while maintenance runs beside them. PostgreSQL finds
// no deadlock, and each answer is one that the contract declares.

const seconds = isSoak ? 120 : 5
const atOnce = 16

/** Changes by the passage of time, one row each: a statement that holds several rows could be the deadlock itself. */
const endings = [
  "UPDATE requests SET expires_at = 1 WHERE id = (SELECT id FROM requests WHERE state = 'pending' ORDER BY random() LIMIT 1)",
  "UPDATE acl_rules SET expires_at = 1 WHERE id = (SELECT id FROM acl_rules WHERE removed_at IS NULL AND expires_at IS NOT NULL ORDER BY random() LIMIT 1)",
  "UPDATE environments SET expires_at = 1 WHERE id = (SELECT id FROM environments WHERE removed_at IS NULL AND expires_at IS NOT NULL ORDER BY random() LIMIT 1)",
  "UPDATE secret_dues SET event_at = '2001-01-01T00:00:00.000Z' WHERE secret_id = (SELECT secret_id FROM secret_dues ORDER BY random() LIMIT 1)",
  "UPDATE sessions SET last_used_at = '2001-01-01T00:00:00.000Z' WHERE id = (SELECT id FROM sessions WHERE user_id IN (SELECT id FROM users WHERE superadmin = 0) ORDER BY random() LIMIT 1)",
  "UPDATE sessions SET created_at = '2001-01-01T00:00:00.000Z' WHERE id = (SELECT id FROM sessions WHERE user_id IN (SELECT id FROM users WHERE superadmin = 0) ORDER BY random() LIMIT 1)",
  "UPDATE delegations SET expires_at = 1 WHERE id = (SELECT id FROM delegations ORDER BY random() LIMIT 1)",
  "UPDATE service_accounts SET last_used_at = NULL WHERE id = (SELECT id FROM service_accounts ORDER BY random() LIMIT 1)"
]

/** Lets the jobs of an hour be done once more. */
const nextHour = "DELETE FROM jobs WHERE bucket <> ''"

let running: Awaited<ReturnType<typeof startServers>>
let outside: Client

const start = async (isRequired: boolean) => {
  running = await startServers(2, { ...sceneSettings(), SERVICE_AUDIT_REQUIRED: isRequired ? "1" : "0" })
  outside = new Client({ connectionString: `${serverUrl()}/${running.name}` })
  await outside.connect()
}

/** The maintenance of a third server, again and again. */
const maintenance = (until: number) =>
  Effect.gen(function* () {
    const fenced = fencedByNothing(yield* Database)
    const expiring = yield* Effect.all([ruleExpiry, requestExpiry, environmentNotice, environmentExpiry, keyNotice])
    const { sweep } = yield* Maintenance
    const dues = yield* Effect.provideService(dueEvents, Fence, fenced)
    yield* Effect.all(
      [
        ...endings.map((ending) => Effect.promise(() => outside.query(ending))),
        ...expiring.map(({ run }) => run(fenced)),
        dues
      ],
      { discard: true }
    ).pipe(
      Effect.zipRight(Effect.sleep(20)),
      Effect.repeat({ times: 9 }),
      Effect.zipRight(Effect.promise(() => outside.query(nextHour))),
      Effect.zipRight(sweep),
      Effect.repeat({ while: () => Date.now() < until }),
      Logger.withMinimumLogLevel(LogLevel.Error)
    )
  }).pipe(Effect.provide(Maintenance.Default))

/** How many deadlocks PostgreSQL has found in the database. It counts those of a session once that has ended. */
const deadlocks = async (): Promise<number> => {
  const { name } = running
  await outside.end()
  const admin = new Client({ connectionString: `${serverUrl()}/postgres` })
  await admin.connect()
  const { rows: ended } = await admin.query<{ pid: number }>(
    "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
    [name]
  )
  const pids = ended.map(({ pid }) => pid)
  const alive = () => admin.query("SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)", [pids])
  while (((await alive()).rowCount ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const { rows } = await admin.query<{ deadlocks: number }>(
    "SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = $1",
    [name]
  )
  await admin.end()
  return rows[0]?.deadlocks ?? assert.fail("the database has no statistics")
}

const retries = Effect.map(Metric.value(retriedTransactions), ({ count }) => count)

/** A run is repeated with `COFFER_SEED`: the calls are the same then, and meet in another order. */
const seed = Number(process.env["COFFER_SEED"] ?? Date.now() % 1_000_000)

// An entry that is required is written at once, and others before the commit: locks then come in another order.
it.each(isSoak ? [false, true] : [seed % 2 === 1])(
  "changes of all kinds on two servers never deadlock (each entry required: %s)",
  async (isRequired) => {
    await start(isRequired)
    const [one, other] = running.servers
    if (one === undefined || other === undefined) return assert.fail("two servers were not started")
    const before = await Effect.runPromise(retries)
    const traffic = await makeTraffic([one, other], seed)
    const until = Date.now() + seconds * 1_000
    const third = Effect.scoped(
      Effect.flatMap(freshPath, (path) => Effect.provide(maintenance(until), servicesIn({ name: running.name, path })))
    )
    await Promise.all([traffic.run(until, atOnce), Effect.runPromise(third)])
    const told = `seed ${seed}: ${[...traffic.counts()].map(([kind, count]) => `${kind} ${count}`).join(", ")}`
    console.log(told)
    const retried = (await Effect.runPromise(retries)) - before
    const found = await deadlocks()
    await running.stop()
    assert.deepStrictEqual(traffic.wrong(), [], told)
    assert.deepStrictEqual({ found, retried }, { found: 0, retried: 0 }, told)
  }
)
