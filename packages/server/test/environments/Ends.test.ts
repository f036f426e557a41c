import type { Actor } from "@coffer/domain/access/Actor"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, TestClock } from "effect"
import {
  asActor,
  entries,
  envPath,
  onDatabase,
  organization,
  outcome,
  projectPath,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const hour = 3_600_000

const create = (actor: Actor, name: string, end: number | null) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(actor))
    return yield* transaction((yield* Environments).create(place, EnvName.make(name), { end }))
  })

const extend = (actor: Actor, name: string, end: number | null) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).right(envPath(name), "env.extend").pipe(asActor(actor))
    return yield* transaction((yield* Environments).extend(place, end))
  })

const sweep = Effect.flatMap(Maintenance, ({ sweep }) => sweep)

const said = Effect.map(entries(), (log) =>
  log
    .filter(({ action }) => /^env\.exp/.test(action))
    .map(({ action, actor, metadata }) =>
      `${action} by ${actor}: ${JSON.stringify(metadata)}`.replace(/"expires_at.*/, "")
    )
)

describe("an environment that ends", () => {
  it.effect("is announced once for each end, a day before it, and is removed by an hourly job", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* TestClock.setTime(hour)
      const now = yield* Clock.currentTimeMillis
      const expiring = 'env.expiring by expiry: {"project":"webshop","env":"pr-1","name":"pr-1",'
      yield* create(ada, "pr-1", now + 30 * hour)
      yield* setSecret(ada, "A", "x", { path: envPath("pr-1") })
      yield* sweep
      assert.deepStrictEqual(yield* said, [])
      yield* TestClock.adjust("7 hours")
      yield* sweep
      yield* TestClock.adjust("1 hour")
      yield* sweep
      assert.deepStrictEqual(yield* said, [expiring])
      yield* extend(ada, "pr-1", now + 60 * hour)
      yield* TestClock.adjust("10 hours")
      yield* sweep
      assert.deepStrictEqual(yield* said, [expiring])
      yield* TestClock.adjust("20 hours")
      yield* sweep
      yield* sweep
      assert.deepStrictEqual(yield* said, [expiring, expiring])
      yield* TestClock.setTime(now + 60 * hour - 1)
      assert.strictEqual((yield* readSecret(ada, "A", { path: envPath("pr-1") })).value, "x")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* outcome(readSecret(ada, "A", { path: envPath("pr-1") })), "NotFound")
      assert.strictEqual(yield* outcome(extend(ada, "pr-1", now + 90 * hour)), "NotFound")
      yield* TestClock.adjust("1 hour")
      yield* sweep
      yield* sweep
      assert.deepStrictEqual(yield* said, [
        expiring,
        expiring,
        'env.expire by expiry: {"project":"webshop","env":"pr-1","name":"pr-1",'
      ])
    }).pipe(Effect.provide(Maintenance.Default), onDatabase())
  )

  it.effect("needs a recent login for anything but a later end, and an end in the next ten years", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const stale = { ...ada, loginIsRecent: false }
      const now = yield* Clock.currentTimeMillis
      yield* create(ada, "pr-1", now + 30 * hour)
      assert.strictEqual(yield* outcome(extend(stale, "pr-1", now + 31 * hour)), "success")
      assert.strictEqual(yield* outcome(extend(stale, "pr-1", now + 30 * hour)), "Reauthenticate")
      assert.strictEqual(yield* outcome(extend(stale, "pr-1", null)), "Reauthenticate")
      assert.strictEqual(yield* outcome(extend(stale, "prod", now + 30 * hour)), "Reauthenticate")
      assert.strictEqual(yield* outcome(extend(ada, "pr-1", now)), "ValidationError")
      assert.strictEqual(yield* outcome(extend(ada, "pr-1", now + 3_651 * 24 * hour)), "ValidationError")
      assert.strictEqual(yield* outcome(extend(ada, "pr-1", null)), "success")
      assert.strictEqual(yield* outcome(create(ada, "pr-2", now)), "ValidationError")
    }).pipe(onDatabase())
  )
})
