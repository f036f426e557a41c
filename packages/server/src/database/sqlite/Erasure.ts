import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { Database, Transaction } from "../Database.js"
import { type Erased, Erasures } from "../Erasures.js"
import type { ErasureReport, ErasureRequest } from "./ErasureWorker.js"
import { DatabaseFile } from "./DatabaseFile.js"
import { query } from "../Query.js"

/** How long a request waits for its erasure. */
const patience = "5 seconds"
/** The delay before a retry, while another connection reads a snapshot from before the destruction. */
const retryAfter = "1 minute"
/** How many data keys one search looks for: its table holds 45 entries per key. */
const maxNeedles = 2_000

// Resolves to the build even when this module runs from source: threads need JavaScript.
const worker = createRequire(import.meta.url).resolve("@coffer/server/database/sqlite/ErasureWorker")

class ErasureFailed extends Data.TaggedError("ErasureFailed")<{ readonly cause: unknown }> {}

const isReport = Schema.is(
  Schema.Struct({ done: Schema.Boolean, rewritten: Schema.Boolean, copies: Schema.Array(Schema.String) })
)

/** Runs one erasure in a thread. An interrupt terminates the thread, which closes its connections. */
const inThread = (request: ErasureRequest) =>
  Effect.async<ErasureReport, ErasureFailed>((resume) => {
    // Start with an empty environment: the server's holds the master key.
    const thread = new Worker(worker, { env: {}, execArgv: [] })
    thread.once("message", (message: unknown) => {
      resume(isReport(message) ? Effect.succeed(message) : new ErasureFailed({ cause: message }))
    })
    thread.once("error", (cause) => {
      resume(new ErasureFailed({ cause }))
    })
    thread.once("exit", (code) => {
      resume(new ErasureFailed({ cause: new Error(`the thread ended early, with ${code}`) }))
    })
    thread.postMessage(request)
    return Effect.promise(() => thread.terminate())
  })

/** An erasure that is due. */
interface Erasure {
  /** How many of the notes in the file belong to this erasure. */
  readonly notes: number
  /** The wrapped data keys to search for; null if they were known only to an earlier process. */
  needles: ReadonlyArray<Uint8Array> | null
  readonly done: Deferred.Deferred<void>
}

const NotesRow = Schema.Struct({ user_version: Schema.Number })

/**
 * Runs erasures in a thread, one at a time, each for several waiting requests. The header field `user_version` counts
 * the due erasures, and the destroying transaction increments it. After a crash, the next server therefore repeats
 * them.
 */
export const ErasuresLive = Layer.scoped(
  Erasures,
  Effect.gen(function* () {
    const { transaction } = yield* Database
    const { one } = yield* query
    const { descriptor, path } = yield* DatabaseFile
    const scope = yield* Effect.scope
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const notes = one(NotesRow)`PRAGMA user_version`
    const addNotes = (count: number) =>
      Effect.flatMap(Effect.zip(Transaction, notes({})), ([[{ connection }], { user_version }]) =>
        Effect.orDie(
          // Pragmas take no parameters.
          connection.executeUnprepared(`PRAGMA user_version = ${Math.max(0, user_version + count)}`, [], undefined)
        )
      )

    const { user_version: unfinished } = yield* notes({})
    let waiting: ReadonlyArray<Erasure> =
      unfinished === 0 ? [] : [{ notes: unfinished, needles: null, done: yield* Deferred.make<void>() }]
    /** After a failure, such as a full disk, only the hourly maintenance retries. */
    let failed = false

    /** The next batch: the first erasure, and as many more as fit into one search. */
    const nextBatch = (): ReadonlyArray<Erasure> => {
      let needles = 0
      return waiting.filter((erasure, index) => {
        needles += erasure.needles?.length ?? 0
        return index === 0 || needles <= maxNeedles
      })
    }

    const needlesOf = (erasures: ReadonlyArray<Erasure>): ReadonlyArray<Uint8Array> | null =>
      erasures.some(({ needles }) => needles === null) ? null : erasures.flatMap(({ needles }) => needles ?? [])

    const settle = (erasures: ReadonlyArray<Erasure>) =>
      Effect.gen(function* () {
        waiting = waiting.filter((erasure) => !erasures.includes(erasure))
        // The data is erased. A note that remains only costs one more rewrite of the file.
        yield* Effect.catchAllCause(
          transaction(addNotes(-erasures.reduce((sum, { notes }) => sum + notes, 0))),
          (cause) =>
            Effect.logWarning(
              "an erasure is complete, but its record could not be cleared: the next start repeats it",
              cause
            )
        )
        for (const { done, needles } of erasures) {
          if (needles === null) yield* Effect.logInfo("an interrupted erasure of secrets is now complete")
          yield* Deferred.succeed(done, undefined)
        }
      }).pipe(Effect.uninterruptible)

    const eraseNext = Effect.gen(function* () {
      const erasures = nextBatch()
      const { copies, done, rewritten } = yield* inThread({ path, file: descriptor, needles: needlesOf(erasures) })
      failed = false
      for (const copy of copies) yield* Effect.logInfo(`destroyed versions were erased in ${copy} too`)
      if (done) {
        yield* settle(erasures)
        return true
      }
      // The pages are clean: the retry only has to empty the log.
      if (rewritten) for (const erasure of erasures) erasure.needles ??= []
      yield* Effect.logWarning(
        "destroyed versions are not erased yet: a connection, such as a backup's, still reads the database as it was before"
      )
      return false
    }).pipe(
      Effect.catchTag("ErasureFailed", ({ cause }) => {
        failed = true
        return Effect.as(
          Effect.logError("destroyed versions could not be erased: retrying within the hour", cause),
          false
        )
      })
    )

    const eraseAll: Effect.Effect<void> = Effect.suspend(() =>
      waiting.length === 0 ? Effect.void : Effect.flatMap(eraseNext, (done) => (done ? eraseAll : Effect.void))
    )

    let retrying = false

    /** Implements `Erasures.finish`. Schedules at most one retry at a time. */
    const finish: Effect.Effect<void> = Effect.zipRight(
      oneAtATime.withPermits(1)(eraseAll),
      Effect.suspend(() => {
        if (waiting.length === 0 || failed || retrying) return Effect.void
        retrying = true
        return Effect.sync(() => {
          retrying = false
        }).pipe(
          Effect.zipRight(Effect.suspend(() => finish)),
          Effect.delay(retryAfter),
          Effect.forkIn(scope),
          Effect.asVoid
        )
      })
    )

    const erase = (needles: ReadonlyArray<Uint8Array>) =>
      Effect.gen(function* () {
        const done = yield* Deferred.make<void>()
        waiting = [...waiting, { notes: 1, needles, done }]
        const running = yield* Effect.forkIn(finish, scope)
        yield* Effect.raceFirst(Deferred.await(done), Fiber.await(running)).pipe(
          Effect.timeoutOption(patience),
          Effect.interruptible
        )
        const erased: Erased = (yield* Deferred.isDone(done)) ? "now" : "pending"
        return erased
      })

    return Erasures.of({
      note: Effect.asVoid(addNotes(1)),
      erase,
      finish,
      state: Effect.sync((): Erased => (waiting.length === 0 ? "now" : "pending"))
    })
  })
)
