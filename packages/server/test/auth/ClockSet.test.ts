import { Access } from "@coffer/server/access/Access"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Login } from "@coffer/server/directory/login/Login"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted, TestClock } from "effect"
import {
  asActor,
  email,
  freshPlace,
  onDatabase,
  organization,
  orgPath,
  Outbox,
  outcome,
  person,
  servicesIn,
  transaction,
  withKey
} from "../support/Services.js"

const ada = email("ada@example.com")
const start = Date.UTC(2026, 0, 31, 12)

/** Sets both clocks of the process to the moment so long after the start. */
const at = (after: Duration.DurationInput) => TestClock.setTime(start + Duration.toMillis(after))

/** Runs an effect while the wall clock alone is set back, as `date -s` does. */
const setBack =
  (by: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.clock, (clock) => {
      const unsafeCurrentTimeMillis = () => clock.unsafeCurrentTimeMillis() - Duration.toMillis(by)
      const wall = { unsafeCurrentTimeMillis, currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis) }
      return Effect.withClock(effect, Object.assign(Object.create(clock) as typeof clock, wall))
    })

const request = Effect.flatMap(Login, (login) => login.request(ada))
const verify = (code: string) => Effect.flatMap(Login, (login) => login.verify(ada, Redacted.make(code)))
const lastCode = Effect.map(Outbox, (outbox) => {
  const last = outbox.at(-1)
  return last === undefined ? "none" : Redacted.value(last.code)
})
const retryAfter = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly retryAfter?: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code, retryAfter: seconds }) => [code, seconds] as const)

describe("a login code whose time has passed", () => {
  it.effect("is not good again when the clock is set back after it was refused", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* request
      const code = yield* lastCode
      yield* at("10 minutes")
      assert.strictEqual(yield* outcome(verify(code)), "InvalidCode")
      yield* at("5 minutes")
      assert.strictEqual(yield* outcome(verify(code)), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("is not good again when the wall clock is set back before anybody tried it", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* request
      const code = yield* lastCode
      yield* at("10 minutes")
      assert.strictEqual(yield* outcome(setBack("8 minutes")(verify(code))), "InvalidCode")
    }).pipe(onDatabase())
  )

  it.effect("is good in its time, though the wall clock was set back meanwhile", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* request
      yield* at("9 minutes")
      assert.strictEqual(yield* outcome(setBack("1 hour")(verify(yield* lastCode))), "success")
    }).pipe(onDatabase())
  )

  it.scoped("is not good in a later process whose clock is behind the moment when it was issued", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* at("1 hour")
      const code = yield* Effect.provide(Effect.zipRight(request, lastCode), servicesIn(place))
      yield* at(0)
      assert.strictEqual(yield* Effect.provide(outcome(verify(code)), servicesIn(place)), "InvalidCode")
    })
  )

  it.scoped("is judged by the wall clock in a later process", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* at(0)
      const code = yield* Effect.provide(Effect.zipRight(request, lastCode), servicesIn(place))
      yield* at("9 minutes")
      assert.strictEqual(yield* Effect.provide(outcome(verify(code)), servicesIn(place)), "success")
    })
  )
})

describe("all sessions ended", () => {
  it.effect("means that a pending code starts no session", () =>
    Effect.gen(function* () {
      const actor = yield* person(ada)
      yield* request
      yield* transaction((yield* Sessions).endAll(actor))
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "InvalidCode")
      yield* request
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onDatabase())
  )
})

describe("a clock that was a year ahead for a moment", () => {
  it.effect("limits no login request afterwards", () =>
    Effect.gen(function* () {
      yield* at("365 days")
      yield* Effect.repeatN(request, 4)
      assert.deepStrictEqual(yield* retryAfter(request), ["RATE_LIMITED", 900])
      yield* at(0)
      assert.strictEqual(yield* outcome(request), "success")
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onDatabase())
  )

  it.effect("locks nobody out afterwards", () =>
    Effect.gen(function* () {
      yield* at("365 days")
      yield* Effect.repeatN(outcome(verify("000000")), 9)
      assert.deepStrictEqual(yield* retryAfter(verify("000000")), ["LOCKED_OUT", 3600])
      yield* at(0)
      yield* request
      assert.strictEqual(yield* outcome(verify(yield* lastCode)), "success")
    }).pipe(onDatabase())
  )
})

describe("an API key", () => {
  it.effect("that was replaced without grace is not good again when the clock is set back", () =>
    Effect.gen(function* () {
      yield* at("1 hour")
      const owner = yield* organization()
      const accounts = yield* ServiceAccounts
      const access = yield* Access
      const made = yield* Effect.flatMap(access.org(orgPath(), "service_account.create"), (place) =>
        Effect.flatMap(transaction(accounts.create(place, { name: ServiceAccountName.make("ci") })), withKey)
      ).pipe(asActor(owner))
      const place = yield* access.org(orgPath(), "service_account.rotate").pipe(asActor(owner))
      const rotated = yield* transaction(accounts.rotate(place, made.id))
      const isGood = (key: Redacted.Redacted) =>
        Effect.flatMap(Authenticator, ({ identify }) =>
          outcome(identify(Headers.fromInput({ "x-api-key": Redacted.value(key) })))
        )
      for (const moment of ["1 hour", "30 minutes", "0 minutes"] as const) {
        yield* at(moment)
        assert.strictEqual(yield* isGood(made.api_key), "Unauthorized", moment)
        assert.strictEqual(yield* isGood(rotated.api_key), "success", moment)
      }
    }).pipe(Effect.provide(ServiceAccounts.Default), onDatabase())
  )
})
