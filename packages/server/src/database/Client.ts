import { SqlClient, type SqlConnection, type SqlError, Statement } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Context, Effect, Either, FiberRef, identity, Stream } from "effect"
import type { Transaction } from "./Database.js"
import { preparing } from "./Prepared.js"
import { spanned } from "./Spans.js"
import { failure, transactionsOf } from "./Transactions.js"
import { isSqlError } from "./SqlErrors.js"

/** What a statement's placeholders stand for, in their order. */
export type Parameter = string | number | null | Uint8Array

/** What a change does to the connection that writes, at once, while its transaction is open. */
export class Statements extends Context.Tag("@coffer/server/Statements")<
  Statements,
  {
    /** Answers rows as objects. Throws an SqlError, a defect for who does not look; also where no transaction is open. */
    readonly run: (text: string, parameters: ReadonlyArray<Parameter>) => ReadonlyArray<unknown>
    /** Runs a step as a savepoint: all of it or nothing. What it throws is its failure. */
    readonly savepoint: <A>(step: () => A) => Either.Either<A, SqlError.SqlError>
    /**
     * Makes what a change inside an open transaction leaves to its end: it is done once, for all changes that are committed
     * together, before they are. A change that is taken back leaves nothing.
     */
    readonly atCommit: <A>(finish: (left: ReadonlyArray<A>) => void) => (item: A) => void
    /** Runs an effect as one transaction. */
    readonly transaction: <A, E, R>(
      change: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | SqlError.SqlError, Exclude<R, Transaction>>
    /** Whether changes can be made: no other connection has held the lock for longer than a change waits. */
    readonly isWritable: () => boolean
    /** Has something done before each thing that is done on this connection, a commit among them. It does not throw. */
    readonly beforeUse: (work: () => void) => void
    /** Has something done after each commit, before those who wait for it are told. It does not throw. */
    readonly afterCommit: (work: () => void) => void
    /** Runs a pragma at once, where no transaction is open. */
    readonly pragma: (text: string) => ReadonlyArray<unknown>
    /**
     * Runs a change that is one step as a transaction: all of it or nothing. What a rule refuses rolls it back and goes on to the
     * caller; a failure of the database itself is a defect.
     */
    readonly change: <A, E>(step: () => Either.Either<A, E>) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  }
>() {}

/** What parameters of a statement hold, in bytes or characters. */
const sizeOf = (parameters: ReadonlyArray<unknown>): number => {
  let size = 0
  for (const parameter of parameters) {
    if (typeof parameter === "string" || parameter instanceof Uint8Array) size += parameter.length
  }
  return size
}

/** The driver's connection in the toolkit's form. A statement that is kept prepared costs one step. */
export const connectionOf = (
  run: (text: string, parameters: ReadonlyArray<unknown>) => ReadonlyArray<unknown>,
  runOnce = run
): SqlConnection.Connection => {
  const attempt = (work: () => ReadonlyArray<unknown>) => Effect.try({ try: work, catch: failure })
  return {
    execute: (text, parameters) => attempt(() => run(text, parameters)),
    executeRaw: (text, parameters) => attempt(() => run(text, parameters)),
    executeUnprepared: (text, parameters) => attempt(() => runOnce(text, parameters)),
    executeValues: () => Effect.dieMessage("rows are asked for as objects"),
    executeStream: () => Stream.dieMessage("rows are asked for all at once")
  }
}

/**
 * A connection that writes, in WAL mode, closed with the scope, as the toolkit's client and as its bare statements. The
 * client's statements outside of a transaction wait for the one that is open, if there is one. A file that cannot be opened
 * is a defect.
 */
export const connect = (filename: string) =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new Sqlite(filename)),
      (open) => Effect.sync(() => open.close())
    )
    yield* Effect.sync(() => {
      database.pragma("journal_mode = WAL")
    })
    const before: Array<() => void> = []
    const after: Array<() => void> = []
    const use = <A>(work: () => A): A => {
      for (const each of before) each()
      return work()
    }
    const direct = preparing(database)
    let given = 0
    const prepared: typeof direct = {
      run: (text, parameters) => {
        given += sizeOf(parameters)
        return use(() => direct.run(text, parameters))
      },
      runOnce: (text, parameters) => use(() => direct.runOnce(text, parameters))
    }
    const connection = connectionOf(prepared.run, prepared.runOnce)
    const totalChanges = database.prepare("SELECT total_changes()").pluck()
    const { alone, atCommit, changeNow, isWritable, outside, savepoint, stepOf, within, withTransaction } =
      transactionsOf(
        database,
        connection,
        (text) => prepared.run(text, []),
        (text) => {
          const done = use(() => database.exec(text))
          if (text === "COMMIT") for (const each of after) each()
          return done
        },
        () => Number(totalChanges.get()),
        () => given
      )
    const runOf = (text: string, parameters: ReadonlyArray<Parameter>) =>
      Either.try({ try: () => prepared.run(text, parameters), catch: failure })

    /** Where nobody traces, a statement costs one step and not the toolkit's dozen, most of which are its span. */
    const quick = <A>(statement: Statement.Statement<A>): Statement.Statement<A> => {
      const execute = (): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> =>
        Effect.withFiberRuntime((fiber) => {
          const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
          if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) {
            return transaction._tag === "Some"
              ? Effect.zipRight(
                  within(() => Either.void),
                  statement.withoutTransform
                )
              : alone(statement.withoutTransform)
          }
          const [text, parameters] = statement.compile()
          const step = () => Either.try({ try: () => prepared.run(text, parameters), catch: failure })
          return transaction._tag === "Some" ? within(step) : outside(step)
        })
      return Object.defineProperty(statement, "commit", { value: execute })
    }

    const client = yield* SqlClient.make({
      acquirer: outside(() => Either.right(connection)),
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    const quickClient = new Proxy(client, {
      // Called with a template it is a statement, with a text an identifier of one.
      apply: (
        target,
        _self,
        [text, ...parameters]: [TemplateStringsArray | string, ...ReadonlyArray<never>]
      ): unknown => (typeof text === "string" ? target(text) : quick(target(text, ...parameters))),
      get: (target, name): unknown =>
        name === "unsafe"
          ? (text: string, parameters?: ReadonlyArray<never>) => quick(target.unsafe(text, parameters))
          : name === "withTransaction"
            ? withTransaction
            : Reflect.get(target, name)
    })
    const statements = Statements.of({
      run: (text, parameters) =>
        Either.getOrThrowWith(
          stepOf(() => spanned(text, () => runOf(text, parameters))),
          identity
        ),
      savepoint,
      atCommit,
      isWritable,
      transaction: withTransaction,
      beforeUse: (work) => {
        before.push(work)
      },
      afterCommit: (work) => {
        after.push(work)
      },
      pragma: (text) => direct.run(`PRAGMA ${text}`, []),
      change: (step) => Effect.catchIf(changeNow(step), isSqlError, Effect.die)
    })
    return { client: quickClient, statements }
  })
