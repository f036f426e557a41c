import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Database } from "../Database.js"
import { query } from "../Query.js"
import { timestamp } from "../../base/Time.js"
import { Replica } from "./Replica.js"

const beatEvery = Duration.seconds(10)
/** A server that was not seen for so long counts as stopped. */
const liveMillis = Duration.toMillis("30 seconds")
/** The row of a server that crashed is removed after this time. */
const keptMillis = Duration.toMillis("1 day")

const LiveRow = Schema.Struct({
  host: Schema.String,
  pid: Schema.Number,
  version: Schema.String,
  started_at: Schema.String,
  seen_at: Schema.String
})

/** The servers that use the database now, oldest first. None on SQLite, where the lock on the file shows it. */
export const liveInstances = Effect.gen(function* () {
  const { clock } = yield* Database
  const { all } = yield* query
  const seenAfter = all(LiveRow)`
    SELECT host, pid, version, started_at, seen_at FROM instances WHERE seen_at > ${"moment"} ORDER BY started_at, id`
  return yield* seenAfter({ moment: timestamp((yield* clock) - liveMillis) })
})

const statements = Effect.map(query, ({ write }) => ({
  beat: write`
    INSERT INTO instances (id, host, pid, version, schema, started_at, seen_at)
    VALUES (${"id"}, ${"host"}, ${"pid"}, ${"version"}, ${"schema"}, ${"now"}, ${"now"})
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
  remove: write`DELETE FROM instances WHERE id = ${"id"}`,
  removeBefore: write`DELETE FROM instances WHERE seen_at < ${"moment"}`
}))

/** Shows the other servers and the offline commands that this server runs, until it ends. */
export const HeartbeatLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { clock, isShared, schema, transaction } = yield* Database
    if (!isShared) return
    const { host, id, pid, version } = yield* Replica
    const { beat, remove, removeBefore } = yield* statements
    const beatAt = (millis: number) => beat({ id, host, pid, version, schema, now: timestamp(millis) })

    const begin = transaction(
      Effect.gen(function* () {
        const now = yield* clock
        yield* removeBefore({ moment: timestamp(now - keptMillis) })
        yield* beatAt(now)
      })
    )
    const heartbeat = transaction(Effect.flatMap(clock, beatAt)).pipe(
      Effect.catchAllCause((cause) => Effect.logDebug("the heartbeat was not written", cause))
    )
    const end = transaction(remove({ id })).pipe(
      Effect.catchAllCause((cause) =>
        Effect.logWarning("this server could not remove its heartbeat: it counts as running for 30 more seconds", cause)
      )
    )

    yield* Effect.acquireRelease(begin, () => end)
    yield* Effect.interruptible(Effect.schedule(heartbeat, Schedule.spaced(beatEvery))).pipe(Effect.forkScoped)
  })
).pipe(Layer.provide(Replica.Default))
