import { Duration, Effect, Fiber, Layer, Option } from "effect"
import { ServerConfig, type Settings } from "../Config.js"
import { pacing } from "../EventLoop.js"
import { StreamFailure, streamTarget } from "./StreamTarget.js"
import { streamPosition } from "./StreamPosition.js"
import { auditEntry } from "./Trail.js"
import { type EntryRow, EntryReader } from "./EntryReader.js"

/** How many entries one statement reads: each can hold 250 KB. */
const rowsAtOnce = 25
/** A batch is written once it has this many entries or characters. */
const maxEntries = 500
const maxCharacters = 1024 * 1024
const pollEvery = Duration.millis(250)
const retryEvery = Duration.seconds(5)
/** How long the shutdown waits for a slow reader. The rest is sent after the next start. */
const drainTime = Duration.seconds(5)

const lineOf = (row: EntryRow) =>
  Effect.map(auditEntry(row), (record) => `${JSON.stringify({ ...record, chain: row.chain })}\n`)

/**
 * Writes the committed entries of all logs as JSON lines to `SERVICE_AUDIT_STREAM`, in the order of commit, within a quarter of
 * a second. A line is the API's record and its link in the chain. Delivery is at least once: the position is stored after the
 * lines, so a crash in between repeats the last ones. A new target or a restored database is streamed from the beginning.
 */
const stream = (setting: NonNullable<Settings["auditStream"]>, dbPath: string) =>
  Effect.gen(function* () {
    const repo = yield* EntryReader
    const write = yield* streamTarget(setting)
    const stored = streamPosition(dbPath)
    const target = setting === "stdout" ? setting : setting.file
    let position = 0
    let failing = false
    let ending = false
    const wake = yield* Effect.makeLatch()

    const resume = Effect.gen(function* () {
      const last = Option.filter(yield* stored.load, (found) => found.target === target)
      if (Option.isNone(last)) return
      if ((yield* repo.entryAt({ position: last.value.position }))?.id === last.value.id) position = last.value.position
      else {
        yield* Effect.logWarning(
          "the audit stream starts from the beginning: the database is not the one streamed before"
        )
      }
    })

    /** Writes one batch. Returns whether there may be more. */
    const batch = Effect.gen(function* () {
      const pace = pacing()
      let last: EntryRow | undefined
      let text = ""
      let entries = 0
      let more = true
      while (more && entries < maxEntries && text.length < maxCharacters) {
        const rows = yield* repo.after({ position: last?.position ?? position, limit: rowsAtOnce })
        for (const row of rows) text += yield* Effect.zipLeft(lineOf(row), pace)
        last = rows.at(-1) ?? last
        entries += rows.length
        more = rows.length === rowsAtOnce
      }
      if (last === undefined) return false
      yield* write(text)
      position = last.position
      yield* stored
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
          return Effect.logInfo("the audit stream resumed where it stopped")
        })
      ),
      Effect.as(pollEvery),
      Effect.catchTag("StreamFailure", ({ reason }) => {
        if (failing) return Effect.succeed(retryEvery)
        failing = true
        return Effect.as(
          Effect.logError(`the audit stream cannot be written (${reason}): retrying every 5 seconds`),
          retryEvery
        )
      }),
      Effect.catchAllCause((cause) => Effect.as(Effect.logError("the audit stream failed", cause), retryEvery)),
      Effect.withTracerEnabled(false)
    )

    /** Drains in a loop until the shutdown, and once more then. */
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
).pipe(Layer.provide(EntryReader.Default))
