import { Duration, Effect, Fiber, Layer, Option } from "effect"
import { ServerConfig, type Settings } from "../Config.js"
import { pacing } from "../EventLoop.js"
import { StreamFailure, streamTarget } from "./StreamTarget.js"
import { streamPosition } from "./StreamPosition.js"
import { recordOf } from "./Trail.js"
import { type EntryRow, TrailRepo } from "./TrailRepo.js"

/** How many entries one statement reads: each can hold 250 KB. */
const stride = 25
/** How much is written at once: so many entries, or so many characters. */
const maxEntries = 500
const maxCharacters = 1024 * 1024
const pollEvery = Duration.millis(250)
const retryEvery = Duration.seconds(5)
/** How long the end waits for a reader that is slow: what is left goes out after the next start. */
const drainTime = Duration.seconds(5)

const lineOf = (row: EntryRow) =>
  Effect.map(recordOf(row), (record) => `${JSON.stringify({ ...record, chain: row.chain })}\n`)

/**
 * Writes each committed audit entry, of every log, as one JSON line where `SERVICE_AUDIT_STREAM` says: the API's record and
 * its link in the chain, in the order of commit, within a quarter of a second. It reads what is committed and remembers how
 * far it came, so that neither a failure of its own nor a crash loses an entry; a crash between a line and its memory brings
 * the last lines again, with the same ids. A new target, or a database that was restored, is streamed from its beginning.
 */
const stream = (setting: NonNullable<Settings["auditStream"]>, dbPath: string) =>
  Effect.gen(function* () {
    const repo = yield* TrailRepo
    const write = yield* streamTarget(setting)
    const memory = streamPosition(dbPath)
    const target = setting === "stdout" ? setting : setting.file
    let at = 0
    let failing = false
    let ending = false
    const wake = yield* Effect.makeLatch()

    const resume = Effect.gen(function* () {
      const kept = Option.filter(yield* memory.load, (position) => position.target === target)
      if (Option.isNone(kept)) return
      if ((yield* repo.entryAt({ position: kept.value.position }))?.id === kept.value.id) at = kept.value.position
      else yield* Effect.logWarning("the audit stream begins anew: the database is not the one that was streamed")
    })

    /** Answers whether there may be more. */
    const batch = Effect.gen(function* () {
      const pace = pacing()
      let last: EntryRow | undefined
      let text = ""
      let entries = 0
      let more = true
      while (more && entries < maxEntries && text.length < maxCharacters) {
        const rows = yield* repo.behind({ position: last?.position ?? at, limit: stride })
        for (const row of rows) text += yield* Effect.zipLeft(lineOf(row), pace)
        last = rows.at(-1) ?? last
        entries += rows.length
        more = rows.length === stride
      }
      if (last === undefined) return false
      yield* write(text)
      at = last.position
      yield* memory
        .save({ target, position: last.position, id: last.id })
        .pipe(Effect.mapError(() => new StreamFailure({ reason: `${dbPath}.audit-stream cannot be written` })))
      return more
    })

    const drain = batch.pipe(
      Effect.repeat({ while: (more) => more }),
      Effect.zipRight(
        Effect.suspend(() => {
          if (!failing) return Effect.void
          failing = false
          return Effect.logInfo("the audit stream goes on where it stopped")
        })
      ),
      Effect.as(pollEvery),
      Effect.catchTag("StreamFailure", ({ reason }) => {
        if (failing) return Effect.succeed(retryEvery)
        failing = true
        return Effect.as(
          Effect.logError(`the audit stream cannot be written (${reason}): it is tried again every 5 seconds`),
          retryEvery
        )
      }),
      Effect.catchAllCause((cause) => Effect.as(Effect.logError("the audit stream failed", cause), retryEvery)),
      Effect.withTracerEnabled(false)
    )

    /** Goes round until the end, and once more then. */
    const round: Effect.Effect<void> = Effect.suspend(() => {
      const last = ending
      return Effect.flatMap(drain, (pause) =>
        last ? Effect.void : Effect.zipRight(Effect.timeoutOption(wake.await, pause), round)
      )
    })

    yield* resume
    const worker = yield* Effect.forkDaemon(round)
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        ending = true
        return wake.open
      }).pipe(
        Effect.zipRight(Fiber.join(worker)),
        Effect.interruptible,
        Effect.timeoutOption(drainTime),
        Effect.zipRight(Fiber.interruptFork(worker))
      )
    )
  })

export const AuditStreamLive = Layer.scopedDiscard(
  Effect.flatMap(ServerConfig, ({ auditStream, dbPath }) =>
    auditStream === null ? Effect.void : stream(auditStream, dbPath)
  )
).pipe(Layer.provide(TrailRepo.Default))
