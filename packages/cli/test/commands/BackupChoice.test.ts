import type { Backup, BackupList } from "@coffer/domain/server/Backup"
import { BackupId } from "@coffer/domain/base/Ids"
import { Either, Option } from "effect"
import { assert, describe, it } from "vitest"
import { ageOf, type Choice, chooseBackup } from "../../src/commands/backups/BackupChoice.js"

let ids = 0
const own = "7d3e9c52-1b64-4a0f-8e2d-5c6b7a8f9e01"
const old = "7d3e9c52-1b64-4a0f-8e2d-5c6b7a8f9e02"
const older = "7d3e9c52-1b64-4a0f-8e2d-5c6b7a8f9e03"

const made = (created_at: string, instance = own): Backup => ({
  id: BackupId.make(`0192f0c1-5b7e-7c3a-9d2e-${(++ids).toString(16).padStart(12, "0")}`),
  created_at: `2026-01-${created_at}:00:00.000Z`,
  size_bytes: 1,
  trigger: "scheduled",
  key_fingerprint: "0".repeat(16),
  instance
})

const none: Choice = { id: Option.none(), latest: false, before: Option.none(), instance: Option.none() }
const latest: Choice = { ...none, latest: true }
const before = (day: string): Choice => ({ ...none, before: Option.some(Date.parse(`2026-01-${day}:00:00Z`)) })

const list = (organizations: number, ...data: ReadonlyArray<Backup>): BackupList => ({
  data,
  server: { instance: own, organizations }
})

const failure = (backups: BackupList, choice: Choice): { readonly _tag: string; readonly message: string } =>
  Either.getOrThrow(Either.flip(chooseBackup(backups, choice)))

describe("the backup to restore", () => {
  const [first, second, third] = [made("01T06"), made("02T06"), made("03T06")]

  it("is named by exactly one of an id, --latest and --before", () => {
    const backups = list(1, first, second)
    for (const choice of [none, { ...latest, id: Option.some(first.id) }, { ...before("02T06"), latest: true }]) {
      assert.strictEqual(failure(backups, choice)._tag, "WrongUsage")
    }
    assert.strictEqual(Either.getOrThrow(chooseBackup(backups, { ...none, id: Option.some(first.id) })), first)
    assert.strictEqual(failure(backups, { ...none, id: Option.some(third.id) })._tag, "NotThere")
  })

  it("is found by its time, wherever it is in the list", () => {
    for (const backups of [
      list(1, first, second, third),
      list(1, third, second, first),
      list(1, second, third, first)
    ]) {
      assert.strictEqual(Either.getOrThrow(chooseBackup(backups, latest)), third)
      assert.strictEqual(Either.getOrThrow(chooseBackup(backups, before("02T06"))), second)
      assert.strictEqual(Either.getOrThrow(chooseBackup(backups, before("02T05"))), first)
      assert.match(failure(backups, before("01T05")).message, /no backup of this server is so old/)
    }
  })

  it("is this server's own, whatever else is in the store", () => {
    const foreign = made("09T06", old)
    assert.strictEqual(Either.getOrThrow(chooseBackup(list(1, foreign, third), latest)), third)
    const named = { ...latest, instance: Option.some(old) }
    assert.strictEqual(Either.getOrThrow(chooseBackup(list(1, foreign, third), named)), foreign)
    assert.strictEqual(failure(list(1, foreign), latest)._tag, "NotThere")
  })

  it("is another server's where this one is empty, and never the empty server's first backup", () => {
    const empty = made("10T06")
    const lost = made("09T06", old)
    assert.strictEqual(Either.getOrThrow(chooseBackup(list(0, empty, lost), latest)), lost)
    assert.strictEqual(Either.getOrThrow(chooseBackup(list(0, empty), latest)), empty)
    const error = failure(list(0, empty, lost, made("05T06", older)), latest)
    assert.strictEqual(error._tag, "WrongUsage")
    for (const text of ["--instance", old, older, "2026-01-09 06:00 UTC"]) assert.include(error.message, text)
  })
})

describe("an age", () => {
  it("is told in the largest unit that fits", () => {
    assert.deepStrictEqual([-5, 59, 60, 3_599, 3_600, 86_399, 86_400, 900_000].map(ageOf), [
      "less than a minute",
      "less than a minute",
      "1 minute",
      "59 minutes",
      "1 hour",
      "23 hours",
      "1 day",
      "10 days"
    ])
  })
})
