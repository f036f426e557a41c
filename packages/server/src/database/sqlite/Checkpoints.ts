import type * as SqlConnection from "@effect/sql/SqlConnection"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { urgentTick } from "../../base/EventLoop.js"
import { onFileInThread } from "./FileThread.js"

/** A checkpoint starts once this many pages of the write-ahead log are not in the database file. */
const enough = 1_000
/** A thread moves more pages than this: 2,500, the pages of one 8 MiB change, would block the event loop for 25 ms. */
const tooMany = 2_000
/** A log longer than this (256 MiB) is moved on the event loop: a thread cannot keep up with constant writes. */
const maxLog = 65_536
/** Milliseconds between the starts of threads: while a connection reads an old snapshot, a thread moves little. */
const pauseMillis = 1_000

const decode = Schema.decodeUnknownOption(
  Schema.Tuple(Schema.Struct({ log: Schema.Number, checkpointed: Schema.Number }))
)

/**
 * Returns the effect to run after each commit: a checkpoint if the log is long. SQLite's automatic checkpoint
 * runs inside a commit. It would block the event loop for all pages that a large change or a long backup leaves.
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
          // A failed checkpoint is retried after a later commit.
          Effect.ignore(onFileInThread("CheckpointWorker", path)),
          Effect.sync(() => {
            isRunning = false
          })
        )
      )
    })

    yield* Effect.orDie(pragma("wal_autocheckpoint = 0"))
    // A failure, such as a full disk, leaves the log unchanged.
    return Effect.ignore(
      Effect.gen(function* () {
        const state = Option.getOrUndefined(decode(yield* pragma("wal_checkpoint(NOOP)")))?.[0]
        if (state === undefined || state.log - state.checkpointed < enough) return
        if (state.log - state.checkpointed > tooMany && state.log <= maxLog) yield* start
        // In a tick of its own: the commit before it has taken its share of this one.
        else if (!isRunning) yield* Effect.zipRight(urgentTick, pragma("wal_checkpoint(PASSIVE)"))
      })
    )
  })
