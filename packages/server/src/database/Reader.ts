import Sqlite from "better-sqlite3"
import { Effect, Either, type Schema } from "effect"
import { ServerConfig } from "../Config.js"
import { busyTimeoutMillis } from "./Busy.js"
import { connectionOf, Statements } from "./Client.js"
import { Snapshot } from "./Database.js"
import { pacing } from "../Turn.js"
import { asObject, preparing } from "./Prepared.js"
import { fits, rowsBy } from "./Rows.js"

type Parameter = string | number | null

/** How many rows are read before it is asked whether it is time for a turn. */
const sliceRows = 100

/**
 * The read-only connection that answers every request's questions: it never waits for a transaction, sees a write the
 * moment that it is committed and never before, and cannot write. A statement costs it a few microseconds: it goes to the
 * driver itself, for what the toolkit does around each costs more than a read. What is read in one turn of the event loop is
 * read in one transaction, for to begin and end one takes locks of the file: it ends before this process, which alone writes,
 * does anything on the connection that writes.
 */
export class Reader extends Effect.Service<Reader>()("@coffer/server/Reader", {
  scoped: Effect.gen(function* () {
    const { dbPath } = yield* ServerConfig
    const { beforeUse } = yield* Statements
    const settings = [
      `busy_timeout = ${busyTimeoutMillis}`,
      "trusted_schema = OFF",
      "cell_size_check = ON",
      "temp_store = MEMORY"
    ]
    const connection = Effect.acquireRelease(
      Effect.sync(() => {
        const opened = new Sqlite(dbPath, { readonly: true, fileMustExist: true })
        for (const setting of settings) opened.pragma(setting)
        return opened
      }),
      (open) => Effect.sync(() => open.close())
    )
    const database = yield* connection
    const { run } = preparing(database)
    const [begin, rollback] = [database.prepare("BEGIN"), database.prepare("ROLLBACK")]

    /** Whether what the open transaction sees is all that is committed. */
    let current = false
    const end = (): void => {
      if (!current) return
      current = false
      // Where it cannot be ended, it is before the next statement, or that one fails.
      Either.try(() => rollback.run())
    }
    beforeUse(end)

    const runNow = (text: string, parameters: ReadonlyArray<unknown>) => {
      if (!current) {
        if (database.inTransaction) rollback.run()
        begin.run()
        current = true
        setImmediate(end)
      }
      return run(text, parameters)
    }

    /** Rows of one statement, at once. */
    const rowsNow = rowsBy<Parameter>(runNow)

    /** As `rowsNow`, as an effect. */
    const rows = <A, I>(row: Schema.Schema<A, I>) => {
      const found = rowsNow(row)
      return (statement: string, parameters: ReadonlyArray<Parameter>): Effect.Effect<ReadonlyArray<A>> =>
        Effect.sync(() => found(statement, parameters))
    }

    const longReader = yield* connection
    const oneAtATime = yield* Effect.makeSemaphore(1)

    /**
     * As `rows`, for a statement that returns many: reads them in slices, on a connection of its own, as they were when it began.
     * One such statement runs at a time.
     */
    const manyRows = <A, I>(row: Schema.Schema<A, I>) => {
      const isRow = fits(row)
      return (statement: string, parameters: ReadonlyArray<Parameter>): Effect.Effect<ReadonlyArray<A>> =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const prepared = longReader.prepare(statement)
            const toRow = asObject(prepared.columns().map(({ name }) => name))
            return { found: prepared.raw().iterate(...parameters), toRow }
          }),
          ({ found, toRow }) => {
            const read: Array<A> = []
            const pace = pacing()
            const slice: Effect.Effect<ReadonlyArray<A>> = Effect.suspend(() => {
              for (let left = sliceRows; left > 0; left--) {
                const next = found.next()
                if (next.done === true) return Effect.succeed(read)
                const object = toRow(next.value)
                if (!isRow(object)) return Effect.dieMessage("a row does not fit its schema")
                read.push(object)
              }
              return Effect.zipRight(pace, slice)
            })
            return slice
          },
          ({ found }) => Effect.sync(() => found.return?.())
        ).pipe(oneAtATime.withPermits(1))
    }

    const { run: runLong, runOnce } = preparing(longReader)

    /** Reads of one moment, on the connection of long reads: one at a time. */
    const snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => runOnce("BEGIN", [])),
        () => Effect.provideService(effect, Snapshot, connectionOf(runLong)),
        () => Effect.sync(() => runOnce("ROLLBACK", []))
      ).pipe(oneAtATime.withPermits(1))

    return { rows, rowsNow, manyRows, reading: connectionOf(runNow), snapshot } as const
  })
}) {}
