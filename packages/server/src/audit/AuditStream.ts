import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { ServerConfig, type Settings } from "../base/Config.js"
import { pacing } from "../base/EventLoop.js"
import { Database } from "../database/Database.js"
import { EntryReader } from "./EntryReader.js"
import { sharedStreamPlaces } from "./SharedStreamPlaces.js"
import { makeBatch } from "./StreamBatch.js"
import { streamPlaces } from "./StreamPlaces.js"
import { streamTarget } from "./StreamTarget.js"

const pollEvery = Duration.millis(250)
const retryEvery = Duration.seconds(5)
/** How long the shutdown waits for a slow reader. The rest is sent after the next start. */
const drainTime = Duration.seconds(5)

/**
 * Writes the committed entries of all logs as JSON lines to `SERVICE_AUDIT_STREAM` within a quarter of a second. A line is the
 * API's record and its link in the chain. Each log is followed by the numbers of its entries, up to its head: positions are
 * not in the order of commit where transactions run at the same time. Delivery is at least once: the places are stored after
 * the lines, so a crash in between repeats the last ones. A new target or a restored database is streamed from the beginning.
 */
const stream = (setting: NonNullable<Settings["auditStream"]>, dbPath: string) =>
  Effect.gen(function* () {
    const repo = yield* EntryReader
    const write = yield* streamTarget(setting)
    const target = setting === "stdout" ? setting : setting.file
    const { isShared } = yield* Database
    const stored = isShared ? yield* sharedStreamPlaces(target) : yield* streamPlaces(dbPath, target)
    const places = new Map<string, number>()
    /** The sum of the heads up to which everything is streamed. */
    let streamed = 0
    let failing = false
    let ending = false
    const wake = yield* Effect.makeLatch()

    const resume = Effect.flatMap(stored.load, (found) => {
      for (const [log, seq] of found ?? []) places.set(log, seq)
      return found === null
        ? Effect.logWarning("the audit stream starts from the beginning: the database is not the one streamed before")
        : Effect.void
    })

    const send = Effect.fnUntraced(function* (batch: ReturnType<typeof makeBatch>) {
      const content = batch.content()
      if (content === null) return
      yield* write(content.text)
      for (const [log, seq] of batch.reached) places.set(log, seq)
      yield* stored.save(places, content.last)
    })

    /** Writes the entries up to the present heads, in batches. */
    const sendAll = Effect.gen(function* () {
      const { total } = yield* repo.headSum({})
      if (total === streamed) return
      const pace = pacing()
      let batch = makeBatch()
      for (const { log, seq: last } of yield* repo.heads) {
        let seq = places.get(log) ?? 0
        // Another program set the log back.
        if (seq > last) seq = 0
        while (seq < last) {
          const { reached, rows } = yield* repo.following(log, seq, last)
          for (const row of rows) yield* Effect.zipLeft(batch.add(row), pace)
          seq = reached
          batch.reach(log, seq)
          if (!batch.isFull()) continue
          yield* send(batch)
          batch = makeBatch()
        }
      }
      yield* send(batch)
      streamed = total
    })

    const drain = sendAll.pipe(
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
