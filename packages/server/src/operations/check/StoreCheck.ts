import { randomBytes } from "node:crypto"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { backupOf } from "../backups/ObjectName.js"
import { makeObjectStore } from "../backups/ConfiguredStore.js"
import type { ObjectStore } from "../backups/ObjectStore.js"
import type { Settings } from "../../base/Config.js"
import type { BackupSettings } from "../../base/config/BackupSettings.js"
import { failed, type Finding, off, ok, warning } from "./Finding.js"

/** Writes an object, reads it back and removes it. Its name is not that of a backup, so lists skip it. */
const roundTrip = (store: ObjectStore) =>
  Effect.gen(function* () {
    const name = `check-${randomBytes(8).toString("hex")}`
    const content = randomBytes(1024)
    yield* store.put(name, content.length, async function* () {
      yield await Promise.resolve(content)
    })
    const pieces = yield* Stream.runCollect(store.read(name)).pipe(
      Effect.tapError(() => Effect.ignore(store.remove(name)))
    )
    yield* store.remove(name)
    return content.equals(Buffer.concat(Chunk.toReadonlyArray(pieces)))
  })

/** The age of the newest backup in milliseconds; null if there is none. */
const newestAge = (store: ObjectStore) =>
  Effect.gen(function* () {
    const times = (yield* store.list).flatMap(({ name, size }) =>
      Option.match(backupOf(name, size), { onNone: () => [], onSome: ({ created_at }) => [Date.parse(created_at)] })
    )
    return times.length === 0 ? null : (yield* Clock.currentTimeMillis) - Math.max(...times)
  })

const hours = (millis: number): string => `${Math.max(0, Math.floor(Duration.toHours(millis)))} hours`

const ageFinding = ({ scheduleHours }: BackupSettings, age: number | null): Finding => {
  const works = "the store writes, returns and deletes objects"
  if (age === null) return warning("backups", `${works}; there is no backup in it`, "make one: coffer backup create")
  const newest = `${works}; the newest backup is ${hours(age)} old`
  return scheduleHours > 0 && age > 2 * Duration.toMillis(Duration.hours(scheduleHours))
    ? warning("backups", newest, "two scheduled backups are missing: see the server's log")
    : ok("backups", newest)
}

/** Checks that the store works, and the age of the newest backup. */
export const storeCheck = ({ backups }: Settings): Effect.Effect<Finding> => {
  if (backups === null) return Effect.succeed(off("backups", "no store is configured, so lost data cannot be restored"))
  return Effect.gen(function* () {
    const store = yield* makeObjectStore(backups)
    if (!(yield* roundTrip(store))) {
      return failed(
        "backups",
        "the store returned other bytes than were written",
        "contact the store's operator: it corrupts data"
      )
    }
    return ageFinding(backups, yield* newestAge(store))
  }).pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) =>
      Effect.succeed(
        failed("backups", message, "correct the settings BACKUP_…, or the server's permissions in the store")
      )
    )
  )
}
