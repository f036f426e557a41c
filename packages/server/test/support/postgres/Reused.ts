import { Effect } from "effect"
import type { Client } from "pg"
import { copyOfTemplate, drop, onServer } from "./Databases.js"

/** The rows that tests delete stay in the files, and slow later tests down: a database that grew by this is dropped. */
const maxGrowth = 4 * 1024 * 1024

/** Changes whenever a table, column, constraint, trigger or function is made, changed or dropped. */
const state = `
  SELECT pg_database_size(current_database()) AS size, (SELECT md5(string_agg(catalog, ' ')) FROM (
    SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_attribute
    UNION ALL SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_constraint
    UNION ALL SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_trigger
    UNION ALL SELECT count(*) || '/' || max(xmin::text::bigint) FROM pg_proc) AS catalogs (catalog)) AS schema`

/** Deletes every row but those of the schema and the fence, and restarts the numbers of identity columns. Triggers and foreign keys are off meanwhile. */
const clear = `
  DO $$
  DECLARE relation record;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR relation IN SELECT oid::regclass AS name, relkind AS kind FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relname NOT IN ('schema_migrations', 'database_fence') LOOP
      IF relation.kind = 'r' THEN EXECUTE format('DELETE FROM %s', relation.name);
      ELSE PERFORM setval(relation.name, 1, false);
      END IF;
    END LOOP;
  END $$`

/** Ends the sessions that a test has left. */
const endOthers = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

interface State {
  readonly size: number
  readonly schema: string
}

interface Idle extends State {
  readonly name: string
}

const stateOf = async (client: Client): Promise<State> => {
  const { rows } = await client.query<State>(state)
  return rows[0] ?? { size: 0, schema: "" }
}

/** Takes a database that an earlier test of any worker has left. */
const take = onServer("postgres", async (client) => {
  // Two workers that make the table at the same time would not both succeed. The end of the connection unlocks.
  await client.query("SELECT pg_advisory_lock(2)")
  await client.query(
    "CREATE TABLE IF NOT EXISTS idle (name TEXT PRIMARY KEY, size BIGINT NOT NULL, schema TEXT NOT NULL)"
  )
  const { rows } = await client.query<Idle>(
    "DELETE FROM idle WHERE name = (SELECT name FROM idle LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *"
  )
  return rows[0]
})

const make = Effect.gen(function* () {
  const name = yield* copyOfTemplate
  return { name, ...(yield* onServer(name, stateOf)) } satisfies Idle
})

/** Leaves an emptied database to a later test. */
const giveBack = ({ name, schema, size }: Idle) =>
  Effect.gen(function* () {
    const isReusable = yield* onServer(name, async (client) => {
      await client.query(endOthers)
      const found = await stateOf(client)
      if (found.schema !== schema || found.size > size + maxGrowth) return false
      await client.query(clear)
      return true
    })
    yield* isReusable
      ? onServer("postgres", (client) => client.query("INSERT INTO idle VALUES ($1, $2, $3)", [name, size, schema]))
      : drop(name)
  })

/** A migrated database without rows for a test. Copying a database costs far more than emptying one that is there. */
export const emptyDatabase = Effect.acquireRelease(
  Effect.flatMap(take, (found) => (found === undefined ? make : Effect.succeed(found))),
  giveBack
)
