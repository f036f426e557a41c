import type { Actor } from "@coffer/domain/access/Actor"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { pause } from "@coffer/server/base/EventLoop"
import { Database } from "@coffer/server/database/Database"
import { DueJob } from "@coffer/server/secrets/dues/DueJob"
import { secretsDue } from "@coffer/server/secrets/dues/DueMetrics"
import { Dues } from "@coffer/server/secrets/dues/Dues"
import { pauseRotations } from "@coffer/server/secrets/rotations/PausedRotations"
import { backoffMillis, mostFailures } from "@coffer/server/secrets/rotations/RotationTurns"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, TestClock } from "effect"
import { at, day, dueIn, dueWithin, setDue, start } from "../dues/World.js"
import { entries, listSecrets, setSecret } from "../support/Services.js"
import { change, create, remove, rotationId, runNow, terms, turns, withRotations, world } from "./World.js"

const withDues = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.zipRight(TestClock.setTime(start), test).pipe(Effect.provide(Dues.Default), withRotations)

const silent = Mailer.make({
  sendLoginCode: () => Effect.void,
  sendInvitation: () => Effect.void,
  sendNotice: () => Effect.void
})

/** When a secret is due, and when its rotation turns. */
const datesOf = (ada: Actor, name = "DATABASE_URL") =>
  Effect.map(listSecrets(ada), (all) => {
    const found = all.find(({ key }) => (key as string) === name)
    return [found?.due_at ?? null, found?.turn_at ?? null] as const
  })

const turn = Effect.gen(function* () {
  yield* (yield* turns).turn(yield* rotationId)
})

describe("a secret that a rotation writes", () => {
  it.effect("is due at the next turn, and as people set it while the rotation is paused or gone", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* setDue(ada, "DATABASE_URL", { rotate_every_days: 90 })
      yield* create(terms(database))
      assert.deepStrictEqual(yield* datesOf(ada), [at(30), at(30)])
      assert.deepStrictEqual(
        (yield* dueWithin(ada, "40d")).map(({ due_at, key }) => [key as string, due_at]),
        [["DATABASE_URL", at(30)]]
      )
      assert.deepInclude((yield* dueIn(ada, { within: "40d" })).data[0], { due_at: at(30), turn_at: at(30) })
      // An age of its own is the rotation's business, an end is not.
      assert.strictEqual((yield* setDue(ada, "DATABASE_URL", { rotate_every_days: 10 })).due_at, at(30))
      yield* setDue(ada, "DATABASE_URL", { expires_at: at(20) })
      assert.deepStrictEqual(yield* datesOf(ada), [at(20), at(30)])
      yield* setDue(ada, "DATABASE_URL", { expires_at: null })

      yield* TestClock.adjust("1 day")
      yield* runNow
      assert.deepStrictEqual(yield* datesOf(ada), [at(30), at(30)])
      yield* turn
      assert.deepStrictEqual(yield* datesOf(ada), [at(31), at(31)])
      yield* change({ every: "5d" })
      assert.deepStrictEqual(yield* datesOf(ada), [at(6), at(6)])
      yield* change({ paused: true })
      assert.deepStrictEqual(yield* datesOf(ada), [at(11), null])
      yield* change({ paused: false })
      assert.deepStrictEqual(yield* datesOf(ada), [at(6), at(6)])

      yield* setSecret(ada, "OTHER", "x")
      const [text] = Object.values(terms(database).writes)
      yield* change({ writes: { OTHER: text ?? "" } })
      assert.deepStrictEqual(
        [yield* datesOf(ada), yield* datesOf(ada, "OTHER")],
        [
          [at(11), null],
          [at(6), at(6)]
        ]
      )
      yield* remove
      assert.deepStrictEqual(yield* datesOf(ada, "OTHER"), [null, null])
    }).pipe(withDues)
  )

  it.effect("is due at the next turn from the first one on, if that makes it", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      const [text = ""] = Object.values(terms(database).writes)
      yield* create({ ...terms(database), writes: { NEW_URL: text } })
      yield* runNow
      yield* turn
      assert.deepStrictEqual(yield* datesOf(ada, "NEW_URL"), [at(30), at(30)])
      const { transaction } = yield* Database
      yield* transaction(pauseRotations)
      assert.deepStrictEqual(yield* datesOf(ada, "NEW_URL"), [null, null])
    }).pipe(withDues)
  )

  it.effect("is due as people set it once ten failures have paused the rotation, and overdue until then", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      yield* create(terms(database))
      yield* setSecret(ada, "RENEWER", "wrong")
      yield* TestClock.adjust("30 days")
      for (let failures = 1; failures <= mostFailures; failures++) {
        assert.deepStrictEqual(yield* datesOf(ada), [at(30), at(30)])
        yield* turn
        yield* TestClock.adjust(backoffMillis(failures))
      }
      assert.deepStrictEqual(yield* datesOf(ada), [null, null])
    }).pipe(Effect.provideService(Mailer, silent), withDues)
  )

  it.effect("makes no entry, mail or count because of a turn, and each of its own end once", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* world
      const mailed: Array<string> = []
      const mailer = Mailer.make({
        sendLoginCode: () => Effect.void,
        sendInvitation: () => Effect.void,
        sendNotice: ({ text }) => Effect.sync(() => void mailed.push(text))
      })
      /** One round of the job of due dates, some days later. */
      const daysLater = (days: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            yield* TestClock.adjust(days * day)
            yield* Layer.build(Layer.provide(Layer.fresh(DueJob), Layer.succeed(Mailer, mailer)))
            yield* pause(100)
            const made = (yield* entries()).filter(({ action }) => action === "secret.due")
            return [made.length, mailed.length, (yield* Metric.value(secretsDue("due"))).value] as const
          })
        )
      yield* create({ ...terms(database), every: "20d" })
      yield* setDue(ada, "DATABASE_URL", { rotate_every_days: 16, owner: "ada@example.com" })
      assert.deepStrictEqual(yield* daysLater(10), [0, 0, 0])
      yield* setDue(ada, "DATABASE_URL", { expires_at: at(30) })
      assert.deepStrictEqual(yield* daysLater(9), [1, 1, 1])
      yield* TestClock.adjust("1 day")
      yield* turn
      assert.deepStrictEqual(yield* datesOf(ada), [at(30), at(40)])
      assert.deepStrictEqual(yield* daysLater(0), [1, 1, 1])
      yield* change({ paused: true })
      yield* change({ paused: false })
      yield* change({ every: "3d" })
      assert.deepStrictEqual(yield* datesOf(ada), [at(23), at(23)])
      assert.deepStrictEqual(yield* daysLater(1), [1, 1, 1])
      yield* setDue(ada, "DATABASE_URL", { expires_at: null })
      assert.deepStrictEqual(yield* daysLater(9), [1, 1, 0])
    }).pipe(withDues)
  )
})
