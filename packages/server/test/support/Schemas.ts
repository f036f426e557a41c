import type Sqlite from "better-sqlite3"
import { Array } from "effect"
import type { Client } from "pg"

/** The facts about each table: its columns, keys, references and indexes, each as a line. */
export type Tables = Readonly<Record<string, ReadonlyArray<string>>>

interface Fact {
  readonly table: string
  readonly fact: string
}

const byTable = (facts: ReadonlyArray<Fact>): Tables =>
  Object.fromEntries(
    Object.entries(Array.groupBy(facts, ({ table }) => table)).map(([table, some]) => [
      table,
      // A key that the engine also has an index for is named once.
      Array.dedupe(some.map(({ fact }) => fact)).sort()
    ])
  )

const typeNames: Readonly<Record<string, string>> = { bigint: "integer", bytea: "blob", "double precision": "real" }

/** Describes a column in SQLite's terms. */
const column = ({ isNullable, name, type }: { name: string; type: string; isNullable: boolean | number }): string =>
  `${name} ${typeNames[type.toLowerCase()] ?? type.toLowerCase()}${isNullable ? "" : " not null"}`

/** The condition of a partial index, without the punctuation in which the engines differ. */
const conditionOf = (text: string | null | undefined): string =>
  (text ?? "")
    .replace(/::text|[()"]/g, "")
    .replace(/\s+/g, " ")
    .trim()

const index = (columns: string, isUnique: boolean | number, condition: string | null | undefined): string =>
  `${isUnique ? "unique" : "index"} ${columns} ${conditionOf(condition)}`.trim()

export const sqliteTables = (db: Sqlite.Database): Tables => {
  const all = <Row>(text: string) => db.prepare<[], Row>(text).all()
  const tables = `FROM sqlite_schema m JOIN`
  const columns = all<{ table: string; name: string; type: string; isNullable: number }>(
    `SELECT m.name AS "table", c.name, c.type, c."notnull" = 0 AND c.pk = 0 AS isNullable
      ${tables} pragma_table_info(m.name) c WHERE m.type = 'table'`
  )
  const keys = all<Fact>(
    `SELECT m.name AS "table", 'key ' || group_concat(c.name, ' ' ORDER BY c.pk) AS fact
      ${tables} pragma_table_info(m.name) c WHERE m.type = 'table' AND c.pk > 0 GROUP BY m.name`
  )
  const references = all<Fact>(
    `SELECT m.name AS "table", 'reference ' || f."from" || ' to ' || f."table" || ' ' || f."to" AS fact
      ${tables} pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`
  )
  const indexes = all<{ table: string; columns: string; text: string | null; isUnique: number }>(
    `SELECT m.name AS "table", s.sql AS text, i."unique" AS isUnique,
        (SELECT group_concat(c.name, ' ' ORDER BY c.seqno) FROM pragma_index_info(i.name) c) AS columns
      ${tables} pragma_index_list(m.name) i LEFT JOIN sqlite_schema s ON s.name = i.name
      WHERE m.type = 'table' AND i.origin <> 'pk'`
  )
  return byTable([
    ...columns.map(({ table, ...rest }) => ({ table, fact: column(rest) })),
    ...keys,
    ...references,
    ...indexes.map(({ columns, isUnique, table, text }) => ({
      table,
      fact: index(columns, isUnique, text?.split(/\sWHERE /)[1])
    }))
  ])
}

/** The tables of the schema `public`, without views. */
export const postgresTables = async (client: Client): Promise<Tables> => {
  const all = async <Row extends object>(text: string) => (await client.query<Row>(text)).rows
  const names = (numbers: string, relation: string) =>
    `(SELECT string_agg(a.attname, ' ' ORDER BY k.number) FROM unnest(${numbers}::int[]) WITH ORDINALITY k (attnum, number)
      JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.attnum)`
  const columns = await all<{ table: string; name: string; type: string; isNullable: boolean }>(
    `SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type, NOT a.attnotnull AS "isNullable"
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`
  )
  const keys = await all<Fact>(
    `SELECT c.relname AS "table", 'key ' || ${names("k.conkey", "c.oid")} AS fact
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      WHERE k.contype = 'p' AND c.relnamespace = 'public'::regnamespace`
  )
  const references = await all<Fact>(
    `SELECT c.relname AS "table", 'reference ' || ${names("k.conkey", "c.oid")} || ' to ' || r.relname || ' ' ||
        ${names("k.confkey", "r.oid")} AS fact
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
      WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace`
  )
  const indexes = await all<{ table: string; columns: string; condition: string | null; isUnique: boolean }>(
    `SELECT c.relname AS "table", i.indisunique AS "isUnique", pg_get_expr(i.indpred, i.indrelid) AS condition,
        ${names("i.indkey", "i.indrelid")} AS columns
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      WHERE NOT i.indisprimary AND c.relnamespace = 'public'::regnamespace`
  )
  return byTable([
    ...columns.map(({ table, ...rest }) => ({ table, fact: column(rest) })),
    ...keys,
    ...references,
    ...indexes.map(({ columns, condition, isUnique, table }) => ({ table, fact: index(columns, isUnique, condition) }))
  ])
}

/** The columns of text that are not compared by bytes. */
export const collatedColumns = async (client: Client) =>
  (
    await client.query(
      `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`
    )
  ).rows
