import { BackupFailed } from "@coffer/domain/errors/Errors"
import { Backups } from "@coffer/server/operations/backups/Backups"
import { BackupScheduleLive } from "@coffer/server/operations/backups/Schedule"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, TestClock } from "effect"
import { configAt, freshPath } from "../support/Services.js"
import { scheduledBackups, storeSettings } from "./Scheduled.js"

const minute = 60 * 1000
const hour = 60 * minute

/** Backups that only keep the time at which each was made, in minutes; one in `failing` fails instead. */
const recorded = (last: number | null, failing: ReadonlySet<number> = new Set()) => {
  const tries: Array<number> = []
  let newest = last
  const layer = Layer.succeed(
    Backups,
    scheduledBackups({
      newest: () => newest,
      make: () =>
        Effect.gen(function* () {
          const millis = yield* Clock.currentTimeMillis
          tries.push(millis / minute)
          if (failing.has(tries.length)) return yield* new BackupFailed({ message: "the store is away" })
          newest = millis
          return millis
        })
    })
  )
  return { tries, layer }
}

const scheduled = (
  { layer }: { readonly layer: Layer.Layer<Backups> },
  hours: string,
  settings: Readonly<Record<string, string>> = storeSettings
) =>
  Effect.flatMap(freshPath, (path) =>
    BackupScheduleLive.pipe(
      Layer.provide(layer),
      Layer.provide(DatabaseLive),
      Layer.provide(configAt(path, { ...settings, BACKUP_SCHEDULE_HOURS: hours })),
      Layer.build
    )
  )

describe("the schedule of backups", () => {
  it.scoped("makes the first at once, and one every interval after it", () =>
    Effect.gen(function* () {
      const backups = recorded(null)
      yield* scheduled(backups, "6")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(backups.tries, [0])
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(backups.tries, [0, 360, 720, 1080, 1440])
    })
  )

  it.scoped("skips no backup and repeats no backup when the server starts anew", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(100 * hour)
      const backups = recorded(98 * hour)
      yield* scheduled(backups, "6")
      yield* TestClock.adjust("239 minutes")
      assert.deepStrictEqual(backups.tries, [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(backups.tries, [104 * 60])
      const overdue = recorded(50 * hour)
      yield* scheduled(overdue, "6")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(overdue.tries.length, 1)
    })
  )

  it.scoped("does not wait for a backup that claims to be of the future", () =>
    Effect.gen(function* () {
      const backups = recorded(1_000 * hour)
      yield* scheduled(backups, "6")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(backups.tries, [0])
    })
  )

  it.scoped("survives a failure, and tries again in 15 minutes", () =>
    Effect.gen(function* () {
      const backups = recorded(null, new Set([2, 3]))
      yield* scheduled(backups, "1")
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual(backups.tries, [0, 60, 75, 90, 150])
    })
  )

  it.scoped("makes no backup when it is 0, or when there is no store", () =>
    Effect.gen(function* () {
      const backups = recorded(null)
      yield* scheduled(backups, "0")
      yield* scheduled(backups, "0", {})
      yield* TestClock.adjust("100 hours")
      assert.deepStrictEqual(backups.tries, [])
    })
  )
})
