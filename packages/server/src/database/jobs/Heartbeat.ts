import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Database } from "../Database.js"
import { query, sql } from "../Query.js"
import { isSuperseded } from "../Superseded.js"
import { timestamp } from "../../base/Time.js"
import { Replica } from "./Replica.js"

const beatEvery = Duration.seconds(10)
/** A server that was not seen for so long counts as stopped. */
const liveMillis = Duration.toMillis("30 seconds")
/** A server that was not seen for so long counts as dead, whatever else is known of it. */
const deadMillis = Duration.toMillis("1 day")

const InstanceRow = Schema.Struct({
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
  const seenAfter = all(InstanceRow)`
    SELECT host, pid, version, started_at, seen_at FROM instances WHERE seen_at > ${"moment"} ORDER BY started_at, id`
  return yield* seenAfter({ moment: timestamp((yield* clock) - liveMillis) })
})

/** Later than every time. */
const always = "9999"

/**
 * Takes the heartbeats of servers that were killed, each once. On SQLite these are all but the own one, because the file's lock is
 * held. On PostgreSQL a server is dead if it is silent and has no session at the database; one that is paused keeps its sessions.
 */
export const takeEnded = Effect.gen(function* () {
  const { clock, isShared, mayHaveSession } = yield* Database
  const { id } = yield* Replica
  const { returning } = yield* query
  const take = returning(InstanceRow)`
    DELETE FROM instances WHERE id <> ${"own"}
      AND (seen_at < ${"dead"} OR (seen_at < ${"silent"} AND NOT (${sql([mayHaveSession])})))
    RETURNING host, pid, version, started_at, seen_at`
  return Effect.gen(function* () {
    const now = yield* clock
    const silent = isShared ? timestamp(now - liveMillis) : always
    return yield* take({ own: id, dead: timestamp(now - deadMillis), silent })
  })
})

/** Takes the heartbeat of a server that is known to have ended; none if it ended in order. */
export const takeOne = Effect.map(
  query,
  ({ returning }) =>
    returning(InstanceRow)`
      DELETE FROM instances WHERE id = ${"id"} RETURNING host, pid, version, started_at, seen_at`
)

const statements = Effect.map(query, ({ write }) => ({
  beat: write`
    INSERT INTO instances (id, host, pid, version, schema, started_at, seen_at)
    VALUES (${"id"}, ${"host"}, ${"pid"}, ${"version"}, ${"schema"}, ${"now"}, ${"now"})
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
  remove: write`DELETE FROM instances WHERE id = ${"id"}`
}))

/**
 * Shows the other servers, the offline commands and the next start that this server runs, until it ends in order. On SQLite it is
 * written once, because nobody else can look.
 */
export const HeartbeatLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { clock, isShared, schema, transaction } = yield* Database
    const { host, id, pid, version } = yield* Replica
    const { beat, remove } = yield* statements
    const beatAt = (millis: number) => beat({ id, host, pid, version, schema, now: timestamp(millis) })

    const begin = transaction(Effect.flatMap(clock, beatAt))
    const heartbeat = begin.pipe(
      Effect.catchAllCause((cause) => Effect.logDebug("the heartbeat was not written", cause))
    )
    const end = transaction(remove({ id })).pipe(
      Effect.catchAllCause((cause) =>
        isSuperseded(cause)
          ? Effect.void
          : Effect.logWarning("this server could not remove its heartbeat: it counts as killed", cause)
      )
    )

    yield* Effect.acquireRelease(begin, () => end)
    if (!isShared) return
    yield* Effect.interruptible(Effect.schedule(heartbeat, Schedule.spaced(beatEvery))).pipe(Effect.forkScoped)
  })
).pipe(Layer.provide(Replica.Default))
