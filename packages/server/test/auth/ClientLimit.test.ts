import { setTimeout } from "node:timers/promises"
import { Login } from "@coffer/server/directory/login/Login"
import { entriesAnHour } from "@coffer/server/directory/login/UnknownLoginAudit"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Duration, Effect, Redacted, TestClock } from "effect"
import {
  email,
  entries,
  freshPlace,
  invariantsIn,
  onDatabase,
  Outbox,
  outcome,
  person,
  servicesIn
} from "../support/Services.js"

const start = Date.UTC(2026, 0, 31, 12)
const at = (after: Duration.DurationInput) => TestClock.setTime(start + Duration.toMillis(after))

const from = (ip: string | null) =>
  Effect.provideService(RequestInfo, RequestInfo.of({ id: "", ip, client: null, route: null, actor: null }))

let invented = 0
const strange = () => email(`stranger-${++invented}@example.com`)

const request = (ip: string | null, address = strange()) =>
  Effect.flatMap(Login, (login) => login.request(address)).pipe(from(ip))

const retryAfter = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly retryAfter?: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code, retryAfter: seconds }) => [code, seconds] as const)

/** Attempts for as many invented addresses, each from a client of its own. */
const requests = (count: number) =>
  Effect.forEach(Array.range(1, count), (n) => request(`192.0.2.${n % 250}`), { discard: true })

const rows = (table: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM ${sql(table)}`
    return row?.count
  })

describe("login requests from a client's address", () => {
  it.effect("are 30 in 15 minutes, whatever the e-mails; the 31st is told how long to wait", () =>
    Effect.gen(function* () {
      yield* person("ada@example.com")
      yield* at(0)
      yield* Effect.repeatN(
        Effect.suspend(() => request("192.0.2.1")),
        29
      )
      yield* at("5 minutes")
      assert.deepStrictEqual(yield* retryAfter(request("192.0.2.1")), ["RATE_LIMITED", 600])
      assert.deepStrictEqual(yield* retryAfter(request("192.0.2.1", email("ada@example.com"))), ["RATE_LIMITED", 600])
      assert.strictEqual(yield* outcome(request("192.0.2.2")), "success")
      assert.strictEqual((yield* Outbox).length, 31)
      assert.deepStrictEqual(
        [yield* rows("login_codes"), yield* rows("rate_events")],
        [31, 31],
        "what is refused leaves nothing"
      )
      yield* at("15 minutes")
      assert.strictEqual(yield* outcome(request("192.0.2.1")), "success")
    }).pipe(onDatabase())
  )

  it.effect("are counted for all of an IPv6 network of 64 bits together", () =>
    Effect.gen(function* () {
      for (let client = 1; client <= 30; client++) yield* request(`2001:db8:1:2::${client}`)
      assert.strictEqual(yield* outcome(request("2001:db8:1:2:ffff::1")), "RateLimited")
      assert.strictEqual(yield* outcome(request("2001:db8:1:3::1")), "success")
    }).pipe(onDatabase())
  )

  it.scoped("are still counted after a restart", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* at(0)
      yield* Effect.provide(
        Effect.repeatN(
          Effect.suspend(() => request("192.0.2.1")),
          29
        ),
        servicesIn(place)
      )
      yield* at("1 minute")
      const waiting = yield* Effect.provide(retryAfter(request("192.0.2.1")), servicesIn(place))
      assert.deepStrictEqual(waiting, ["RATE_LIMITED", 840])
      yield* invariantsIn(place)
    })
  )

  it.effect("made while the clock was a year ahead do not count afterwards", () =>
    Effect.gen(function* () {
      yield* at("365 days")
      yield* Effect.repeatN(
        Effect.suspend(() => request("192.0.2.1")),
        29
      )
      assert.deepStrictEqual(yield* retryAfter(request("192.0.2.1")), ["RATE_LIMITED", 900])
      yield* at(0)
      assert.strictEqual(yield* outcome(request("192.0.2.1")), "success")
    }).pipe(onDatabase())
  )

  it.effect("leave nothing behind an hour later but the audit log", () =>
    Effect.gen(function* () {
      yield* at(0)
      yield* requests(40)
      yield* at("1 hour")
      yield* (yield* Maintenance).sweep
      assert.deepStrictEqual([yield* rows("login_codes"), yield* rows("rate_events")], [0, 0])
    }).pipe(Effect.provide(Maintenance.Default), onDatabase())
  )
})

/** Waits until there are more entries than a number: a commit takes time of its own, which the test's clock does not show. */
const entriesBeyond = (count: number) =>
  entries("system").pipe(
    Effect.zipLeft(Effect.promise(() => setTimeout(1))),
    Effect.repeat({ until: (found) => found.length > count, times: 2_000 })
  )

describe("the audit log about addresses without a user", () => {
  it.effect("has an entry for each attempt up to a number an hour, and beyond it one for all", () =>
    Effect.gen(function* () {
      const ada = yield* person("ada@example.com")
      yield* requests(entriesAnHour + 25)
      yield* request("198.51.100.1", ada.email)
      const before = yield* entries("system")
      assert.lengthOf(before, entriesAnHour + 1)
      assert.strictEqual(before.at(-1)?.actor, ada.email, "a user's entry is always there")

      yield* TestClock.adjust("1 hour")
      const after = (yield* entriesBeyond(before.length)).slice(before.length)
      assert.deepStrictEqual(
        after.map(({ action, actor_type, metadata, resource }) => ({ action, actor_type, metadata, resource })),
        [{ action: "auth.login", actor_type: "system", metadata: { attempts: 25 }, resource: ["user", null] }]
      )
      yield* requests(entriesAnHour)
      assert.lengthOf(yield* entries("system"), 2 * entriesAnHour + 2, "a new hour begins")
    }).pipe(onDatabase())
  )

  it.effect("counts failed verifications and lockouts alike", () =>
    Effect.gen(function* () {
      yield* requests(entriesAnHour)
      const stranger = strange()
      const verify = Effect.flatMap(Login, (login) => login.verify(stranger, Redacted.make("000000")))
      yield* Effect.repeatN(outcome(verify), 19)
      const before = yield* entries("system")
      assert.lengthOf(before, entriesAnHour)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(
        (yield* entriesBeyond(before.length + 1))
          .slice(before.length)
          .map(({ action, metadata }) => [action, metadata]),
        [
          ["auth.verify_failed", { attempts: 10 }],
          ["auth.lockout", { attempts: 1 }]
        ]
      )
    }).pipe(onDatabase())
  )

  it.scoped("has what was counted when the server ends", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* Effect.provide(requests(entriesAnHour + 3), servicesIn(place))
      const found = yield* Effect.provide(entries("system"), servicesIn(place))
      assert.deepStrictEqual(found.at(-1)?.metadata, { attempts: 3 })
      yield* invariantsIn(place)
    })
  )
})
