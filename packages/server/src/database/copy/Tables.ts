import * as Either from "effect/Either"

export interface Column {
  readonly name: string
  /** The engine's own type. */
  readonly type: string
}

export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<Column>
  /** The tables that its foreign keys refer to. */
  readonly references: ReadonlyArray<string>
}

/** Why a table is not copied row by row. */
type Reason = "written by triggers from other tables" | "record of an engine's migrations" | "state of an engine"

/** The tables that are not copied. Every other table is, so it must have the same columns on both engines. */
export const notCopied: Readonly<Record<string, Reason>> = {
  audit_times: "written by triggers from other tables",
  effect_sql_migrations: "record of an engine's migrations",
  schema_migrations: "record of an engine's migrations",
  schema_info: "record of an engine's migrations",
  database_fence: "state of an engine",
  erasures: "state of an engine",
  instances: "state of an engine",
  jobs: "state of an engine"
}

const versions = "one of them has the schema of a newer release, whose coffer-server must do this"

/** The first column that only one of two tables has. */
const oneSided = (one: Table, other: Table): string | undefined => {
  const [some, others] = [one, other].map(({ columns }) => columns.map(({ name }) => name))
  return [...(some ?? []), ...(others ?? [])].find(
    (name) => some?.includes(name) !== true || others?.includes(name) !== true
  )
}

/** Orders tables so that each comes after those that it refers to. */
const inOrder = (tables: ReadonlyArray<Table>): ReadonlyArray<Table> => {
  const ordered = new Set<Table>()
  const place = (table: Table): void => {
    if (ordered.has(table)) return
    for (const other of tables) if (other !== table && table.references.includes(other.name)) place(other)
    ordered.add(table)
  }
  tables.forEach(place)
  return [...ordered]
}

/** The tables that are copied, referenced ones first. */
export const copied = (tables: ReadonlyArray<Table>): ReadonlyArray<Table> =>
  inOrder(tables.filter(({ name }) => notCopied[name] === undefined))

/**
 * Returns the tables to copy from one schema into the other, referenced ones first, with the target's column types. Fails
 * with a reason if a table or a column is only in one of them and `notCopied` does not name it.
 */
export const tablesToCopy = (
  source: ReadonlyArray<Table>,
  target: ReadonlyArray<Table>
): Either.Either<ReadonlyArray<Table>, string> => {
  const from = new Map(copied(source).map((table) => [table.name, table]))
  const to = new Map(copied(target).map((table) => [table.name, table]))
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    const [one, other] = [from.get(name), to.get(name)]
    if (one === undefined || other === undefined) {
      return Either.left(`the table ${name} is in only one of the databases: ${versions}`)
    }
    const column = oneSided(one, other)
    if (column !== undefined) {
      return Either.left(`the column ${name}.${column} is in only one of the databases: ${versions}`)
    }
  }
  return Either.right([...to.values()])
}
