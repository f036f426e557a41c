import { Array, Context, Effect, Option, Predicate, type Schema } from "effect"
import { Database, Snapshot, Transaction } from "./Database.js"
import { rowsOf } from "./Rows.js"
import { spanIn } from "../tracing/Traced.js"

/** What a parameter stands for. */
export type Value = string | number | null | Uint8Array

/** The values of a statement's parameters, by their names. */
export type Values<Name extends string> = { readonly [N in Name]: Value }

/** The name of an index that a statement is to use. */
class IndexHint {
  constructor(readonly index: string) {}
}

/** A text of SQL with named parameters and hints: `texts` stand around `slots`. */
export interface Sql<Name extends string> {
  readonly texts: ReadonlyArray<string>
  readonly slots: ReadonlyArray<string | IndexHint>
  /** Never there: it keeps the names in the type. */
  readonly Names?: Name
}

type Part = string | Sql<string>
type NamesOf<P extends Part> = P extends string ? P : P extends Sql<infer Name> ? Name : never

/**
 * A statement, or a part of one: `` sql`WHERE id = ${"id"}` `` has a parameter of the name `id`. What is put in as `sql`
 * itself becomes a part of the text, with its own parameters.
 */
export const sql = <const Parts extends ReadonlyArray<Part>>(
  [head = "", ...tail]: ReadonlyArray<string>,
  ...parts: Parts
): Sql<NamesOf<Parts[number]>> => {
  const texts = [head]
  const slots: Array<string | IndexHint> = []
  const append = (text: string): void => {
    texts.push((texts.pop() ?? "") + text)
  }
  parts.forEach((part, index) => {
    if (typeof part === "string") {
      slots.push(part)
      texts.push("")
    } else {
      part.texts.forEach((text, at) => {
        if (at === 0) return append(text)
        slots.push(part.slots[at - 1] ?? "")
        texts.push(text)
      })
    }
    append(tail[index] ?? "")
  })
  return { texts, slots }
}

/** A hint behind a table: the engine uses this index, if it takes hints. */
export const usingIndex = (index: string): Sql<never> => ({ texts: ["", ""], slots: [new IndexHint(index)] })

/** Parts of a statement in a row, with a separator between them. */
export const joined = (parts: ReadonlyArray<Sql<string>>, separator: Sql<never>): Sql<string> => {
  const nothing: Sql<string> = sql``
  return parts.reduce((before, part, index) => (index === 0 ? part : sql`${before}${separator}${part}`), nothing)
}

/** How many rows one INSERT has: the largest that fits, then the next. */
const rowsAtOnce = [16, 4, 1]

/** Runs a statement with the values of its parameters. */
type Run<Name extends string, A, R> = (values: Values<Name>) => Effect.Effect<A, never, R>

/** Makes a statement of a template, as `sql` does. */
type Statement<A, R> = <const Parts extends ReadonlyArray<Part>>(
  texts: ReadonlyArray<string>,
  ...parts: Parts
) => Run<NamesOf<Parts[number]>, A, R>

/**
 * Statements of the database. Each is compiled once, takes its parameters by name, and checks its rows: one that does not
 * fit is a defect, as is a failure of the database. What reads joins the open transaction or snapshot of its fiber, and
 * asks the connection that reads where there is none; what writes needs a transaction.
 */
export const query = Effect.map(Database, ({ indexHint, placeholder, reading, system }) => {
  const attributes = { "db.system.name": system, "db.operation.name": "execute" }
  const connectionOf = (context: Context.Context<never>) =>
    Option.match(Context.getOption(context, Transaction), {
      onSome: ([{ connection }]) => connection,
      onNone: () => Option.getOrElse(Context.getOption(context, Snapshot), () => reading)
    })

  /** Compiles a statement for its parameters in their order. It returns rows as the engine has them. */
  const compileOrdered = ({ slots, texts }: Sql<string>) => {
    let parameters = 0
    const text = texts.reduce((before, after, index) => {
      const slot = slots[index - 1]
      return before + (slot instanceof IndexHint ? indexHint(slot.index) : placeholder(parameters++)) + after
    })
    return (values: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<unknown>> =>
      Effect.withFiberRuntime((fiber) =>
        spanIn(
          fiber,
          "sql.execute",
          { kind: "client", attributes: { ...attributes, "db.query.text": text } },
          Effect.orDie(connectionOf(fiber.currentContext).execute(text, values, undefined))
        )
      )
  }

  /** As `compileOrdered`, for parameters by name. */
  const compile = <Name extends string>(statement: Sql<Name>) => {
    const ask = compileOrdered(statement)
    const names = statement.slots.filter(Predicate.isString)
    return (values: Values<Name>): Effect.Effect<ReadonlyArray<unknown>> =>
      ask(names.map((name): unknown => Reflect.get(values, name)))
  }

  /** Runs a statement that is put together for one use. */
  const run =
    <A, I>(row: Schema.Schema<A, I>) =>
    <Name extends string>(statement: Sql<Name>, values: Values<Name>): Effect.Effect<ReadonlyArray<A>> =>
      Effect.flatMap(compile(statement)(values), rowsOf(row))

  /** All rows. */
  const all = <A, I>(row: Schema.Schema<A, I>): Statement<ReadonlyArray<A>, never> => {
    const fit = rowsOf(row)
    return (texts, ...parts) => {
      const ask = compile(sql(texts, ...parts))
      return (values) => Effect.flatMap(ask(values), fit)
    }
  }

  /** The first row; undefined when there is none. */
  const first = <A, I>(row: Schema.Schema<A, I>): Statement<A | undefined, never> => {
    const rows = all(row)
    return (texts, ...parts) => {
      const ask = rows(texts, ...parts)
      return (values) => Effect.map(ask(values), ([found]) => found)
    }
  }

  /** The one row of a statement that always has one, as an aggregate has. */
  const one = <A, I>(row: Schema.Schema<A, I>): Statement<A, never> => {
    const rows = all(row)
    return (texts, ...parts) => {
      const ask = rows(texts, ...parts)
      return (values) =>
        Effect.flatMap(ask(values), ([found]) =>
          found === undefined ? Effect.dieMessage("a statement answered no row") : Effect.succeed(found)
        )
    }
  }

  /** Writes. */
  const write: Statement<void, Transaction> = (texts, ...parts) => {
    const ask = compile(sql(texts, ...parts))
    return (values) => Effect.zipRight(Transaction, Effect.asVoid(ask(values)))
  }

  /** Writes, and answers the rows of its RETURNING clause. */
  const returning = <A, I>(row: Schema.Schema<A, I>): Statement<ReadonlyArray<A>, Transaction> => {
    const rows = all(row)
    return (texts, ...parts) => {
      const ask = rows(texts, ...parts)
      return (values) => Effect.zipRight(Transaction, ask(values))
    }
  }

  /**
   * Inserts rows into a table, several in one statement: a statement costs more than a row, and SQLite journals the changed
   * pages of each statement that may abort.
   */
  const insert = <const Column extends string>(table: string, columns: ReadonlyArray<Column>) => {
    const row = sql`(${joined(
      columns.map((column) => sql`${column}`),
      sql`, `
    )})`
    const inserts = rowsAtOnce.map((count) => ({
      count,
      ask: compileOrdered(
        sql`INSERT INTO ${sql([table])} (${sql([columns.join(", ")])}) VALUES ${joined(
          Array.replicate(row, count),
          sql`, `
        )}`
      )
    }))
    return (rows: ReadonlyArray<Values<Column>>) =>
      Effect.zipRight(
        Transaction,
        Effect.gen(function* () {
          let done = 0
          for (const { ask, count } of inserts) {
            for (; done + count <= rows.length; done += count) {
              yield* ask(rows.slice(done, done + count).flatMap((row) => columns.map((column) => row[column])))
            }
          }
        })
      )
  }

  return { run, all, first, one, write, returning, insert } as const
})
