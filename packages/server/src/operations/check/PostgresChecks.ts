import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Client } from "pg"
import type { Settings } from "../../base/Config.js"
import type { PostgresSettings } from "../../base/config/DatabaseSettings.js"
import { targetName } from "../../base/config/DatabaseUrl.js"
import { command, found as rowsOf, readAtOnce } from "../../database/copy/PostgresSides.js"
import { schemaState } from "../../database/postgres/Migrations.js"
import { connectWith, reachOnce, type Reached } from "../../database/postgres/Reach.js"
import { checkServer } from "../../database/postgres/ServerChecks.js"
import { timestamp } from "../../base/Time.js"
import { keyFinding, wrappedKeys } from "./DatabaseChecks.js"
import { failed, type Finding, ok, warning } from "./Finding.js"
import { listedLogs, logsFindings } from "./LogsCheck.js"

const toleratedMillis = 2_000

/** The tables on which the server's role lacks rights. A role that owns the tables has all of them. */
const missingRights = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    AND EXISTS (SELECT FROM unnest(CASE
      WHEN c.relname IN ('schema_migrations', 'schema_info') THEN ARRAY['SELECT']
      WHEN c.relname IN ('audit_entries', 'audit_logs') THEN ARRAY['SELECT', 'INSERT']
      ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) AS needed (privilege)
      WHERE NOT has_table_privilege(c.oid, needed.privilege))
  ORDER BY 1`

interface Facts {
  readonly millis: number
  readonly encrypted: number
  readonly version: string
}

const facts = `
  SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS millis, current_setting('server_version') AS version,
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted`

const schemaFinding = (at: Reached, mode: PostgresSettings["migrate"]) =>
  Effect.map(schemaState(at), ({ found, isDue, newest }): Finding => {
    if (!isDue) return ok("schema", `the schema is current: ${found}`)
    const state = `the schema is ${found === 0 ? "missing" : `version ${found}`}, and this program's is ${newest}`
    return mode === "auto"
      ? warning("schema", state, "the next start migrates it")
      : failed("schema", state, "run coffer-server migrate")
  })

const rightsFinding = (client: Client, role: string) =>
  Effect.map(rowsOf<{ readonly name: string }>(client, missingRights), (tables): Finding =>
    tables.length === 0
      ? ok("rights", `the role ${role} has the rights that the server needs`)
      : failed(
          "rights",
          `the role ${role} lacks rights on ${tables.map(({ name }) => name).join(", ")}`,
          "run coffer-server migrate with SERVICE_DATABASE_MIGRATE_URL, which grants them"
        )
  )

const clockFinding = (ours: number, theirs: number): Finding =>
  Math.abs(ours - theirs) <= toleratedMillis
    ? ok("clock", `the clock says ${timestamp(ours)}, as the database's`)
    : warning(
        "clock",
        `the clock says ${timestamp(ours)}, and the database's ${timestamp(theirs)}`,
        "set both by NTP: codes and sessions depend on them"
      )

/** Checks the master key and the list of audit logs, as they were at one moment. */
const keyFindings = (client: Client, settings: Settings) =>
  Effect.gen(function* () {
    yield* command(client, readAtOnce)
    const keys = yield* rowsOf(client, wrappedKeys)
    const logs = yield* rowsOf(client, listedLogs)
    yield* command(client, "COMMIT")
    return keys.length === 0
      ? [ok("key", "the database is empty: the first start writes the check of the master key")]
      : [yield* keyFinding(keys, settings), ...(yield* logsFindings(keys, logs, settings))]
  })

/** Checks a PostgreSQL database, the key and the clock by reading only, so it works while servers run. */
export const postgresChecks = (
  settings: Settings,
  { migrate, target }: PostgresSettings
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.gen(function* () {
    const at = yield* reachOnce(target)
    const weaknesses = yield* checkServer(at)
    const client = yield* connectWith(at.config)
    const before = yield* Clock.currentTimeMillis
    const [server] = yield* rowsOf<Facts>(client, facts)
    const after = yield* Clock.currentTimeMillis
    const encryption = server?.encrypted === 1 ? "with TLS" : "without TLS"
    const schema = yield* schemaFinding(at, migrate)
    return [
      ok(
        "database",
        `${at.name} is reached ${encryption}, PostgreSQL ${server?.version ?? "unknown"}, role ${at.user}`
      ),
      ...weaknesses.map((weakness) => warning("database", `the setting ${weakness}`, "set it to on in PostgreSQL")),
      schema,
      ...(schema.status === "ok"
        ? [yield* rightsFinding(client, at.user), ...(yield* keyFindings(client, settings))]
        : []),
      clockFinding(Math.round((before + after) / 2), server?.millis ?? Number.NaN)
    ]
  }).pipe(
    Effect.scoped,
    Effect.catchAll((error) =>
      Effect.succeed([
        failed(
          "database",
          `${targetName(target)} cannot be used: ${"reason" in error ? error.reason : error.message}`,
          "check that PostgreSQL runs and accepts this machine, and correct SERVICE_DATABASE_URL"
        )
      ])
    )
  )
