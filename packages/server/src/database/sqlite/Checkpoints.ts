import type { SqlConnection } from "@effect/sql"
import { Effect, FiberSet, Option, Schema } from "effect"
import { onFileInThread } from "./FileThread.js"

/** How many pages of the write-ahead log are left to be moved into the database file. */
const enough = 1_000
/** More are moved by a thread: 2,500, as one change of 8 MiB leaves, would hold the event loop for 25 ms. */
const tooMany = 2_000
/** A log of more is moved in any case (256 MiB): a thread does not catch up with writers that never pause. */
const maxLog = 65_536
/** How soon a thread is started after the last one, in milliseconds: one that finds a reader of old pages moves little. */
const pauseMillis = 1_000

const decode = Schema.decodeUnknownOption(
  Schema.Tuple(Schema.Struct({ log: Schema.Number, checkpointed: Schema.Number }))
)

/**
 * Makes what is done after each commit: a checkpoint, when the log has become long. SQLite would make one in the commit that
 * makes it so, whatever has gathered by then: a large change, or all changes of the minutes that a backup reads.
 */
export const checkpoints = (connection: SqlConnection.Connection, path: string) =>
  Effect.gen(function* () {
    const fork = yield* FiberSet.makeRuntime()
    let isRunning = false
    let startedAt = -pauseMillis
    const pragma = (text: string) => connection.execute(`PRAGMA ${text}`, [], undefined)

    const start = Effect.sync(() => {
      if (isRunning || performance.now() - startedAt < pauseMillis) return
      isRunning = true
      startedAt = performance.now()
      fork(
        Effect.ensuring(
          // What fails is tried again after a later commit.
          Effect.ignore(onFileInThread("CheckpointWorker", path)),
          Effect.sync(() => {
            isRunning = false
          })
        )
      )
    })

    yield* Effect.orDie(pragma("wal_autocheckpoint = 0"))
    // A failure, as of a full disk, leaves the log as it is.
    return Effect.ignore(
      Effect.gen(function* () {
        const state = Option.getOrUndefined(decode(yield* pragma("wal_checkpoint(NOOP)")))?.[0]
        if (state === undefined || state.log - state.checkpointed < enough) return
        if (state.log - state.checkpointed > tooMany && state.log <= maxLog) yield* start
        else if (!isRunning) yield* pragma("wal_checkpoint(PASSIVE)")
      })
    )
  })
