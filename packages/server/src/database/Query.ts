import { Context, Effect, Option, type Schema } from "effect"
import { Database, Snapshot, Transaction } from "./Database.js"
import { rowsOf } from "./Rows.js"
import { spanIn } from "../tracing/Traced.js"

/** What a parameter stands for. */
export type Value = string | number | null | Uint8Array

/** The values of a statement's parameters, by their names. */
export type Values<Name extends string> = { readonly [N in Name]: Value }

/** A text of SQL with named parameters: `texts` stand around `names`. */
export interface Sql<Name extends string> {
  readonly texts: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
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
  const names: Array<string> = []
  const append = (text: string): void => {
    texts.push((texts.pop() ?? "") + text)
  }
  parts.forEach((part, index) => {
    if (typeof part === "string") {
      names.push(part)
      texts.push("")
    } else {
      part.texts.forEach((text, at) => {
        if (at === 0) return append(text)
        names.push(part.names[at - 1] ?? "")
        texts.push(text)
      })
    }
    append(tail[index] ?? "")
  })
  return { texts, names }
}

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
export const query = Effect.map(Database, ({ placeholder, reading, system }) => {
  const attributes = { "db.system.name": system, "db.operation.name": "execute" }
  const connectionOf = (context: Context.Context<never>) =>
    Option.match(Context.getOption(context, Transaction), {
      onSome: ([{ connection }]) => connection,
      onNone: () => Option.getOrElse(Context.getOption(context, Snapshot), () => reading)
    })

  /** Compiles a statement; it answers rows as they come. */
  const compile = <Name extends string>({ names, texts }: Sql<Name>) => {
    const text = texts.reduce((before, after, index) => before + placeholder(index) + after)
    return (values: Values<Name>): Effect.Effect<ReadonlyArray<unknown>> =>
      Effect.withFiberRuntime((fiber) =>
        spanIn(
          fiber,
          "sql.execute",
          { kind: "client", attributes: { ...attributes, "db.query.text": text } },
          Effect.orDie(
            connectionOf(fiber.currentContext).execute(
              text,
              names.map((name): unknown => Reflect.get(values, name)),
              undefined
            )
          )
        )
      )
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

  return { run, all, first, one, write, returning } as const
})
