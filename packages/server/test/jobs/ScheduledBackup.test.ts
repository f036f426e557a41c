import { BackupId } from "@coffer/domain/Ids"
import { Backups } from "@coffer/server/backups/Backups"
import { BackupScheduleLive } from "@coffer/server/backups/Schedule"
import { Database } from "@coffer/server/database/Database"
import { timestamp } from "@coffer/server/database/Time"
import { pause } from "@coffer/server/EventLoop"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, TestClock } from "effect"
import { configAt, freshPath, onDatabase } from "../support/Services.js"
import { passLeases, rows, shared } from "./Support.js"

const sixHours = 6 * 60 * 60 * 1000

/** Backups whose store only keeps when each was made. `making` runs while one is made. */
const store = (making: Effect.Effect<void>) => {
  const made: Array<number> = []
  const unused = Effect.dieMessage("the schedule does not ask for this")
  const layer = Layer.effect(
    Backups,
    Effect.map(Database, ({ clock }) =>
      Backups.make({
        create: () => unused,
        list: () => unused,
        restore: () => unused,
        drill: () => unused,
        lastScheduled: Effect.sync(() => Option.fromNullable(made.at(-1))),
        scheduled: (fenced) =>
          Effect.gen(function* () {
            yield* making
            const millis = yield* clock
            yield* fenced(Effect.sync(() => made.push(millis)))
            return {
              id: BackupId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
              created_at: timestamp(millis),
              size_bytes: 1,
              trigger: "scheduled",
              key_fingerprint: "",
              instance: ""
            }
          })
      })
    )
  )
  return { made, layer }
}

const settings = {
  BACKUP_S3_ENDPOINT: "http://127.0.0.1:1",
  BACKUP_S3_BUCKET: "bucket",
  BACKUP_S3_ACCESS_KEY: "access",
  BACKUP_S3_SECRET_KEY: "secret",
  BACKUP_SCHEDULE_HOURS: "6"
}

/** Starts the schedule of one more server. */
const start = ({ layer }: { readonly layer: Layer.Layer<Backups, never, Database> }) =>
  Effect.flatMap(freshPath, (path) =>
    Layer.build(Layer.fresh(BackupScheduleLive).pipe(Layer.provide(layer), Layer.provide(configAt(path, settings))))
  )

/** Lets the clock go on, minute by minute, and the servers ask the database in between. */
const minutes = (count: number) =>
  Effect.repeatN(Effect.zipRight(pause(100), TestClock.adjust("1 minute")), count).pipe(Effect.zipRight(pause(100)))

const withServers = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.scoped, Effect.provide(shared), onDatabase())

describe("the scheduled backup of three servers", () => {
  it.effect("is made once, and by any of them when it is due again", () =>
    Effect.gen(function* () {
      const backups = store(pause(50))
      for (let server = 0; server < 3; server++) yield* start(backups)
      yield* minutes(3)
      assert.lengthOf(backups.made, 1)
      backups.made[0] = (backups.made[0] ?? 0) - sixHours
      yield* TestClock.adjust("6 hours")
      yield* minutes(3)
      assert.lengthOf(backups.made, 2)
    }).pipe(withServers)
  )

  it.effect("is made by another one when the first has slept through its lease, whose own counts for nothing", () =>
    Effect.gen(function* () {
      let begun = 0
      const backups = store(Effect.suspend(() => (begun++ === 0 ? pause(1_500) : Effect.void)))
      yield* start(backups)
      yield* pause(300)
      yield* passLeases
      yield* start(backups)
      yield* pause(1_800)
      assert.strictEqual(begun, 2)
      assert.lengthOf(backups.made, 1)
      assert.deepStrictEqual(
        (yield* rows).map(({ name, token }) => [name, token]),
        [["backup", 2]]
      )
    }).pipe(withServers)
  )
})
