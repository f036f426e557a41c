import { Backups } from "@coffer/server/operations/backups/Backups"
import { BackupScheduleLive } from "@coffer/server/operations/backups/Schedule"
import { Database } from "@coffer/server/database/Database"
import { pause } from "@coffer/server/base/EventLoop"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { scheduledBackups, storeSettings } from "../backups/Scheduled.js"
import { configAt, freshPath, onDatabase } from "../support/Services.js"
import { passLeases, rows, shared } from "./Support.js"

const sixHours = 6 * 60 * 60 * 1000

/** Backups whose store only keeps when each was made. `making` runs while one is made. */
const store = (making: Effect.Effect<void>) => {
  const made: Array<number> = []
  const layer = Layer.effect(
    Backups,
    Effect.map(Database, ({ clock }) =>
      scheduledBackups({
        newest: () => made.at(-1),
        make: (fenced) =>
          Effect.gen(function* () {
            yield* making
            const millis = yield* clock
            yield* fenced(Effect.void)
            made.push(millis)
            return millis
          })
      })
    )
  )
  return { made, layer }
}

const settings = { ...storeSettings, BACKUP_SCHEDULE_HOURS: "6" }

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
