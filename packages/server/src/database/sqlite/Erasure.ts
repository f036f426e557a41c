import { Data, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { Database, Transaction } from "../Database.js"
import { type Erased, Erasures } from "../Erasures.js"
import type { ErasureReport, ErasureRequest } from "./ErasureWorker.js"
import { DatabaseFile } from "./Files.js"
import { query } from "../Query.js"

/** How long an answer waits for its erasure. */
const patience = "5 seconds"
/** When an erasure is tried again while another connection reads what is to go. */
const retryAfter = "1 minute"
/** How many data keys one search looks for: its table has 45 entries for each. */
const maxNeedles = 2_000

// The build, also where this module runs from its source: a thread is started from JavaScript.
const worker = createRequire(import.meta.url).resolve("@coffer/server/database/sqlite/ErasureWorker")

class ErasureFailed extends Data.TaggedError("ErasureFailed")<{ readonly cause: unknown }> {}

const isReport = Schema.is(
  Schema.Struct({ done: Schema.Boolean, rewritten: Schema.Boolean, copies: Schema.Array(Schema.String) })
)

/** Runs one erasure in a thread of its own. Interrupted, it ends the thread, and with it the connections. */
const inThread = (request: ErasureRequest) =>
  Effect.async<ErasureReport, ErasureFailed>((resume) => {
    // The environment holds the master key: it is not for this thread.
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

/** What one destruction has left to be erased. */
interface Erasure {
  /** How many notes in the file stand for it. */
  readonly notes: number
  /** The wrapped data keys to look for; null where a server before this one knew them. */
  needles: ReadonlyArray<Uint8Array> | null
  readonly done: Deferred.Deferred<void>
}

const NotesRow = Schema.Struct({ user_version: Schema.Number })

/**
 * Erases from every byte of the files. One erasure runs at a time, in a thread, for all that wait. How many are not done yet is
 * noted in the file's own header (`user_version`), in the transaction that destroys: a server that is killed before the bytes
 * are gone finds the note when it starts again.
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
          // A pragma takes no parameter.
          connection.executeUnprepared(`PRAGMA user_version = ${Math.max(0, user_version + count)}`, [], undefined)
        )
      )

    const { user_version: cutShort } = yield* notes({})
    let waiting: ReadonlyArray<Erasure> =
      cutShort === 0 ? [] : [{ notes: cutShort, needles: null, done: yield* Deferred.make<void>() }]
    /** After a failure, such as a full disk, only the hourly maintenance tries again. */
    let failed = false

    /** The next that are done together: the first, and as many more as one search takes. */
    const nextOnes = (): ReadonlyArray<Erasure> => {
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
        // They are gone: a note that stays costs one more rewriting.
        yield* Effect.catchAllCause(
          transaction(addNotes(-erasures.reduce((sum, { notes }) => sum + notes, 0))),
          (cause) => Effect.logWarning("an erasure is done, and could not be noted as done", cause)
        )
        for (const { done, needles } of erasures) {
          if (needles === null) yield* Effect.logInfo("an erasure of secrets that was cut short is done now")
          yield* Deferred.succeed(done, undefined)
        }
      }).pipe(Effect.uninterruptible)

    const eraseNext = Effect.gen(function* () {
      const erasures = nextOnes()
      const { copies, done, rewritten } = yield* inThread({ path, file: descriptor, needles: needlesOf(erasures) })
      failed = false
      for (const copy of copies) yield* Effect.logInfo(`destroyed versions were erased in ${copy} too`)
      if (done) {
        yield* settle(erasures)
        return true
      }
      // Nothing is left in the pages: the log alone is to be emptied.
      if (rewritten) for (const erasure of erasures) erasure.needles ??= []
      yield* Effect.logWarning(
        "destroyed versions are not erased yet: a connection, such as a backup's, still reads the database as it was before"
      )
      return false
    }).pipe(
      Effect.catchTag("ErasureFailed", ({ cause }) => {
        failed = true
        return Effect.as(
          Effect.logError("destroyed versions could not be erased: it is tried again within the hour", cause),
          false
        )
      })
    )

    const eraseAll: Effect.Effect<void> = Effect.suspend(() =>
      waiting.length === 0 ? Effect.void : Effect.flatMap(eraseNext, (done) => (done ? eraseAll : Effect.void))
    )

    let retrying = false

    /** Erases whatever waits for it, once what is under way is done. What cannot be erased yet is tried again in a minute. */
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
        const under = yield* Effect.forkIn(finish, scope)
        yield* Effect.raceFirst(Deferred.await(done), Fiber.await(under)).pipe(
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
