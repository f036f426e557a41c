import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { flow, identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { connectionIn, Database, type Open, type StatementError, Transaction } from "./Database.js"
import { columnsOf, rowsOf } from "./Rows.js"
import { DatabaseTime, FenceCheck, IndexHint, type Slot, type Template } from "./Template.js"
import { spanIn } from "../base/tracing/Traced.js"

/** The value of a parameter. */
export type Value = string | number | null | Uint8Array

/** The values of a statement's parameters, by their names. */
export type Values<Name extends string> = { readonly [N in Name]: Value }

/** SQL with named parameters and hints. */
export interface Sql<Name extends string> extends Template {
  /** Phantom field: carries the names of the parameters in the type. */
  readonly Names?: Name
}

type Part = string | Sql<string>
type NamesOf<P extends Part> = P extends string ? P : P extends Sql<infer Name> ? Name : never

/**
 * A statement, or a part of one: `` sql`WHERE id = ${"id"}` `` has a parameter named `id`. An interpolated `sql`
 * becomes part of the text and keeps its parameters.
 */
export const sql = <const Parts extends ReadonlyArray<Part>>(
  [head = "", ...tail]: ReadonlyArray<string>,
  ...parts: Parts
): Sql<NamesOf<Parts[number]>> => {
  const texts = [head]
  const slots: Array<Slot> = []
  const append = (text: string): void => {
    texts.push((texts.pop() ?? "") + text)
  }
  parts.forEach((part, index) => {
    if (typeof part === "string") {
      slots.push(part)
      texts.push("")
    } else {
      part.texts.forEach((text, position) => {
        if (position === 0) return append(text)
        slots.push(part.slots[position - 1] ?? "")
        texts.push(text)
      })
    }
    append(tail[index] ?? "")
  })
  return { texts, slots }
}

/** A hint after a table's name: an engine that supports hints uses this index. */
export const usingIndex = (index: string): Sql<never> => ({ texts: ["", ""], slots: [new IndexHint(index)] })

/** The time of the database, in milliseconds since 1970. */
export const databaseTime: Sql<never> = { texts: ["", ""], slots: [new DatabaseTime()] }

/**
 * A condition, always true, for the first statement of a read: the statement fails if the database went on without this process.
 * A transaction is checked when it begins.
 */
export const fenceCheck: Sql<never> = { texts: ["", ""], slots: [new FenceCheck()] }

/** Joins parts of a statement with a separator. */
export const joined = (parts: ReadonlyArray<Sql<string>>, separator: Sql<never>): Sql<string> => {
  const nothing: Sql<string> = sql``
  return parts.reduce((before, part, index) => (index === 0 ? part : sql`${before}${separator}${part}`), nothing)
}

/** The part of a statement's input that comes from the fiber: its clock. */
interface Asking {
  readonly currentDefaultServices: Context.Context<DefaultServices.DefaultServices>
}

/** Puts the values of a statement's parameters into its order. */
type Ordered<A> = (values: A, asking: Asking) => ReadonlyArray<unknown>

const orderOf = <Name extends string>(statement: Sql<Name>): Ordered<Values<Name>> => {
  const slots = statement.slots.filter((slot) => !(slot instanceof IndexHint || slot instanceof FenceCheck))
  return (values, { currentDefaultServices }) => {
    const named: Readonly<Record<string, Value>> = values
    return slots.map((slot) =>
      Predicate.isString(slot)
        ? named[slot]
        : Context.get(currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()
    )
  }
}

/** Row counts of the prepared INSERT statements, largest first. */
const rowsAtOnce = [64, 16, 4, 1]

type Run<Name extends string, A, R> = (values: Values<Name>) => Effect.Effect<A, never, R>

/** Prepares a statement from a template, as `sql` does. */
type Statement<A, R> = <const Parts extends ReadonlyArray<Part>>(
  texts: ReadonlyArray<string>,
  ...parts: Parts
) => Run<NamesOf<Parts[number]>, A, R>

/** A statement that only reads. */
export interface Read<Name extends string, A> extends Run<Name, A, never> {
  /** Sends the statement before its rows are needed: see `Open.ahead`. */
  readonly ahead: (values: Values<Name>) => Effect.Effect<void, never, Transaction>
}

/** As `Statement`, for one that only reads. */
type Reading<A> = <const Parts extends ReadonlyArray<Part>>(
  texts: ReadonlyArray<string>,
  ...parts: Parts
) => Read<NamesOf<Parts[number]>, A>

/**
 * Prepared statements with named parameters. A row that does not match its schema is a defect, as is a failure of the
 * database. Reads use the open transaction or snapshot of the fiber, or else the read-only connection. Writes require a
 * transaction.
 */
export const query = Effect.map(Database, ({ reading, rowLock, system, textOf }) => {
  const attributes = { "db.system.name": system, "db.operation.name": "execute" }

  type Execute = (
    context: Context.Context<never>,
    text: string,
    values: ReadonlyArray<unknown>
  ) => Effect.Effect<unknown, StatementError>

  const prepared: Execute = (context, text, values) => connectionIn(context, reading).execute(text, values, undefined)
  const unprepared: Execute = (context, text, values) =>
    connectionIn(context, reading).executeUnprepared(text, values, undefined)
  const inTransaction =
    (execute: (open: Open, text: string, values: ReadonlyArray<unknown>) => ReturnType<Execute>): Execute =>
    (context, text, values) => {
      const found = Context.getOption(context, Transaction)
      return Option.isSome(found)
        ? execute(found.value[0], text, values)
        : Effect.dieMessage("a statement that writes ran outside of a transaction")
    }
  const answered = inTransaction(({ ask }, text, values) => ask(text, values))
  /** Without waiting for the engine's response, if it can. */
  const sent = inTransaction(({ send }, text, values) => send(text, values))

  /** Compiles a statement with positional parameters. Few steps: most of the time of a request is in its statements. */
  const compileOrdered = <I, A>(
    statement: Sql<string>,
    execute: Execute,
    resultOf: (found: unknown) => Exit.Exit<A>,
    inOrder: Ordered<I>
  ) => {
    const text = textOf(statement)
    const options = { kind: "client", attributes: { ...attributes, "db.query.text": text } } as const
    const ends = { onFailure: Effect.die, onSuccess: resultOf }
    return (values: I): Effect.Effect<A> =>
      Effect.withFiberRuntime((fiber) => {
        const execution = execute(fiber.currentContext, text, inOrder(values, fiber))
        return spanIn(fiber, "sql.execute", options, Effect.matchEffect(execution, ends))
      })
  }

  /** Compiles a statement with named parameters. */
  const compile =
    <A>(execute: Execute, resultOf: (found: unknown) => Exit.Exit<A>) =>
    <Name extends string>(statement: Sql<Name>) =>
      compileOrdered(statement, execute, resultOf, orderOf(statement))

  const statementOf = <A, R>(execute: Execute, resultOf: (found: unknown) => Exit.Exit<A>): Statement<A, R> => {
    const compiled = compile(execute, resultOf)
    return (texts, ...parts) => compiled(sql(texts, ...parts))
  }

  const reads = <A>(resultOf: (found: unknown) => Exit.Exit<A>): Reading<A> => {
    const compiled = compile(prepared, resultOf)
    return (texts, ...parts) => {
      const statement = sql(texts, ...parts)
      const text = textOf(statement)
      const inOrder = orderOf(statement)
      return Object.assign(compiled(statement), {
        ahead: (values: Parameters<typeof inOrder>[0]) =>
          Effect.withFiberRuntime<void, never, Transaction>((fiber) =>
            Effect.map(Transaction, ([open]) => {
              open.ahead(text, inOrder(values, fiber))
            })
          )
      })
    }
  }

  /** Runs a statement that is built for one use, and is not prepared. */
  const run = <A, I>(row: Schema.Schema<A, I>) => {
    const compiled = compile(unprepared, rowsOf(row))
    return <Name extends string>(statement: Sql<Name>, values: Values<Name>) => compiled(statement)(values)
  }

  /** Returns all rows. */
  const all = <A, I>(row: Schema.Schema<A, I>) => reads<ReadonlyArray<A>>(rowsOf(row))

  /** Returns the first row, or undefined. */
  const first = <A, I>(row: Schema.Schema<A, I>) =>
    reads<A | undefined>(
      flow(
        rowsOf(row),
        Exit.map(([found]) => found)
      )
    )

  /** Returns the row of a statement that always has one, such as an aggregate. */
  const one = <A, I>(row: Schema.Schema<A, I>) =>
    reads<A>(
      flow(
        rowsOf(row),
        Exit.flatMap(([found]) =>
          found === undefined ? Exit.die(new Error("a statement returned no row")) : Exit.succeed(found)
        )
      )
    )

  /** Writes, and may return before the engine ran the statement. */
  const write = statementOf<void, Transaction>(sent, () => Exit.void)

  /** Writes, and returns the rows of the RETURNING clause. */
  const returning = <A, I>(row: Schema.Schema<A, I>) =>
    statementOf<ReadonlyArray<A>, Transaction>(answered, rowsOf(row))

  /** Makes a SELECT lock its rows until the transaction ends; runs nothing if transactions never overlap. */
  const lockingWith =
    <A>(statement: Statement<A, Transaction>, nothing: Exit.Exit<A>): Statement<A, Transaction> =>
    (texts, ...parts) =>
      rowLock === null ? () => nothing : statement`${sql(texts, ...parts)} ${sql([rowLock])}`

  /** Locks the rows of a SELECT until the transaction ends, and returns them; null if transactions never overlap. */
  const locking = <A, I>(row: Schema.Schema<A, I>) =>
    lockingWith<ReadonlyArray<A> | null>(returning(row), Exit.succeed(null))

  /** Locks rows, and may return before they are locked: only later statements of the transaction have the lock. */
  const lockingSoon = lockingWith(write, Exit.void)

  /**
   * Inserts rows, several per statement, with an optional ON CONFLICT clause. A statement costs more than a row, because
   * SQLite journals the changed pages of each statement that may abort.
   */
  const inserting = <A, const Column extends string>(
    table: string,
    columns: ReadonlyArray<Column>,
    tail: Sql<never>,
    execute: Execute,
    resultOf: (found: unknown) => Exit.Exit<ReadonlyArray<A>>
  ) => {
    const row = sql`(${joined(
      columns.map((column) => sql`${column}`),
      sql`, `
    )})`
    const compiled = (count: number) =>
      compileOrdered(
        sql`INSERT INTO ${sql([table])} (${sql([columns.join(", ")])}) VALUES ${joined(
          Array.replicate(row, count),
          sql`, `
        )} ${tail}`,
        execute,
        resultOf,
        identity<ReadonlyArray<unknown>>
      )
    // Compiled at the first use: most tables get one row at a time, and the texts of many rows are long.
    const inserts = rowsAtOnce.map((count) => {
      let ask: ReturnType<typeof compiled> | null = null
      return { count, ask: (values: ReadonlyArray<unknown>) => (ask ??= compiled(count))(values) }
    })
    return (rows: ReadonlyArray<Values<Column>>): Effect.Effect<ReadonlyArray<A>, never, Transaction> =>
      Effect.gen(function* () {
        const answers: Array<A> = []
        let done = 0
        for (const { ask, count } of inserts) {
          for (; done + count <= rows.length; done += count) {
            const some = rows.slice(done, done + count)
            answers.push(...(yield* ask(some.flatMap((row) => columns.map((column) => row[column])))))
          }
        }
        return answers
      })
  }

  const insert = <const Column extends string>(
    table: string,
    columns: ReadonlyArray<Column>,
    onConflict: Sql<never> = sql``
  ) => {
    const insertAll = inserting(table, columns, onConflict, sent, () => Exit.succeed([]))
    return (rows: ReadonlyArray<Values<Column>>) => Effect.asVoid(insertAll(rows))
  }

  /** Like `insert`, and returns columns of the new rows, in any order. */
  const insertReturning =
    <A, I>(row: Schema.Schema<A, I>) =>
    <const Column extends string>(table: string, columns: ReadonlyArray<Column>, onConflict: Sql<never> = sql``) =>
      inserting(table, columns, sql`${onConflict} RETURNING ${sql([columnsOf(row).join(", ")])}`, answered, rowsOf(row))

  return { run, all, first, one, write, returning, locking, lockingSoon, insert, insertReturning } as const
})
