import Sqlite from "better-sqlite3"
import { join } from "node:path"
import { connected } from "./postgres.mjs"

const rowsAtOnce = 500

/** Adds what both engines do alike. */
const storeOf = (engine) => ({
  ...engine,
  one: async (...asked) => (await engine.all(...asked))[0],
  /** Inserts rows, all with the columns of the first. */
  insert: async (table, rows) => {
    const columns = Object.keys(rows[0] ?? {})
    for (let begin = 0; begin < rows.length; begin += rowsAtOnce) {
      const some = rows.slice(begin, begin + rowsAtOnce)
      const row = `(${columns.map(() => "?").join(", ")})`
      await engine.all(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${some.map(() => row).join(", ")}`,
        ...some.flatMap((each) => columns.map((column) => each[column]))
      )
    }
  }
})

/** Opens the database file of a stopped server, to fill it fast and without durability. */
export const fill = async (folder, work) => {
  const database = new Sqlite(join(folder, "service.db"))
  database.pragma("synchronous = OFF")
  database.pragma("foreign_keys = ON")
  database.pragma("cache_size = -200000")
  const statements = new Map()
  const store = storeOf({
    all: async (text, ...values) => {
      const statement = statements.get(text) ?? database.prepare(text)
      statements.set(text, statement)
      return statement.reader ? statement.all(...values) : (statement.run(...values), [])
    },
    /** A FROM item: the numbers from one to another, as `n.seq`. */
    series: (
      first,
      last
    ) => `(WITH RECURSIVE n(seq) AS (SELECT ${first} UNION ALL SELECT seq + 1 FROM n WHERE seq < ${last})
      SELECT seq FROM n) AS n`,
    digits: (expression, width) => `printf('%0${width}d', ${expression})`,
    randomBytes: (bytes) => `randomblob(${bytes})`,
    inBulk: (_tables, load) => load()
  })
  await store.all("BEGIN")
  await work(store)
  await store.all("COMMIT")
  database.pragma("wal_checkpoint(TRUNCATE)")
  database.close()
}

const constraints = `
  SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE contype IN ('p', 'u') AND conrelid::regclass::text = ANY (?)`

const indexes = `
  SELECT indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE tablename = ANY (?) AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)`

/** Fills the database at a URL. */
export const fillPostgres = (url, work) =>
  connected(url, async (client) => {
    const all = async (text, ...values) => {
      let position = 0
      const { rows } = await client.query(
        text.replace(/\?/g, () => `$${++position}`),
        values
      )
      return rows
    }
    const store = storeOf({
      all,
      series: (first, last) => `generate_series(${first}::bigint, ${last}::bigint) AS n(seq)`,
      digits: (expression, width) => `lpad((${expression})::text, ${width}, '0')`,
      randomBytes: (bytes) =>
        `substring(decode(repeat(md5(random()::text), ${Math.ceil(bytes / 16)}), 'hex') FROM 1 FOR ${bytes})`,
      /** Loads tables without their indexes and triggers, and makes the indexes after it. */
      inBulk: async (tables, load) => {
        const keys = await all(constraints, tables)
        const others = await all(indexes, tables)
        for (const { name, table } of keys) await all(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
        for (const { name } of others) await all(`DROP INDEX ${name}`)
        for (const table of tables) await all(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
        await load()
        for (const { definition, name, table } of keys) {
          await all(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
        }
        for (const { definition } of others) await all(definition)
        for (const table of tables) await all(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
        await all(
          `INSERT INTO audit_times AS t (block, log, oldest, newest)
          SELECT position >> 10, log, min(created_at), max(created_at) FROM audit_entries GROUP BY 1, 2
          ON CONFLICT (block, log) DO UPDATE SET oldest = excluded.oldest, newest = excluded.newest`
        )
      }
    })
    await work(store)
    await client.query("VACUUM ANALYZE")
  })
