import { ServiceAccountId, UserId, type UseRuleId } from "@coffer/domain/base/Ids"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import { Access } from "@coffer/server/access/Access"
import { Tenant } from "@coffer/server/base/Tenant"
import { makeSlots } from "@coffer/server/secrets/use/Slots"
import { UseRules } from "@coffer/server/secrets/use-rules/UseRules"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, TestClock } from "effect"
import { Members } from "@coffer/server/directory/members/Members"
import {
  asActor,
  entries,
  envPath,
  grant,
  key,
  member,
  orgPath,
  person,
  raw,
  setSecret,
  transaction
} from "../support/Services.js"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { agent, allow, ask, canary, refusal, withUpstream, world } from "./World.js"

const stripe = key("STRIPE_KEY")

const changing = <A extends "use_rule.update" | "use_rule.delete">(action: A) =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    const access = yield* Access
    return yield* access.right(envPath(), action).pipe(asActor(ada))
  })

const update = (id: UseRuleId, terms: Partial<UseTerms>) =>
  Effect.gen(function* () {
    const place = yield* changing("use_rule.update")
    const rules = yield* UseRules
    return yield* transaction(rules.update(place, stripe, id, terms))
  })

const remove = (id: UseRuleId) =>
  Effect.gen(function* () {
    const place = yield* changing("use_rule.delete")
    const rules = yield* UseRules
    return yield* transaction(rules.remove(place, stripe, id))
  })

/** Removes the account or person of an actor from the organization. */
const removeAccount = (id: ServiceAccountId) =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "service_account.revoke")).pipe(
      asActor(ada)
    )
    yield* transaction((yield* ServiceAccounts).revoke(place, id))
  })

const accountsOf = Effect.gen(function* () {
  const ada = yield* person("ada@example.com")
  const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "use_rule.list")).pipe(asActor(ada))
  return (yield* (yield* UseRules).list(place, stripe)).map(({ accounts }) => accounts)
})

describe("the accounts of a use rule", () => {
  it.effect("are those that exist: others are refused by name, and nothing is written", () =>
    Effect.gen(function* () {
      const { rule } = yield* world()
      yield* member("grace@example.com", "developer")
      const refused = "accounts: the organization has no service account or member agnet, eve@example.com"
      const accounts = ["agent", "agnet", "grace@example.com", "eve@example.com"]
      for (const attempt of [allow({ accounts }), update(rule.id, { accounts })]) {
        assert.strictEqual((yield* Effect.flip(attempt)).message, refused)
      }
      assert.deepStrictEqual(yield* accountsOf, [["agent"]])
      yield* update(rule.id, { accounts: ["Grace@Example.com", "agent", "agent"] })
      assert.deepStrictEqual(yield* accountsOf, [["grace@example.com", "agent"]])
    }).pipe(withUpstream())
  )

  it.effect("are gone with an account: one of the same name inherits nothing", () =>
    Effect.gen(function* () {
      const { bot, rule } = yield* world()
      yield* ask(bot)
      yield* removeAccount(ServiceAccountId.make(bot.id))
      const again = yield* agent()
      yield* grant(again, "use")
      assert.match(yield* refusal(again), /^USE_REFUSED account agent is in no rule/)
      assert.deepStrictEqual(yield* accountsOf, [[]])
      yield* update(rule.id, { per_day: 7 })
      assert.match(yield* refusal(again), /^USE_REFUSED account agent is in no rule/)
      yield* update(rule.id, { accounts: ["agent"] })
      yield* ask(again)
    }).pipe(withUpstream())
  )

  it.effect("are gone with a membership: who is invited again inherits nothing", () =>
    Effect.gen(function* () {
      const { rule } = yield* world()
      const grace = yield* member("grace@example.com", "developer")
      yield* update(rule.id, { accounts: ["agent", "grace@example.com"] })
      assert.deepStrictEqual(yield* accountsOf, [["agent", "grace@example.com"]])
      const ada = yield* person("ada@example.com")
      const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "member.remove")).pipe(asActor(ada))
      yield* transaction((yield* Members).remove(place, UserId.make(grace.id)))
      yield* member("grace@example.com", "developer")
      assert.deepStrictEqual(yield* accountsOf, [["agent"]])
    }).pipe(Effect.provide(Members.Default), withUpstream())
  )
})

describe("a use rule", () => {
  it.effect("is in the audit log as a whole, each time that it is written", () =>
    Effect.gen(function* () {
      const { rule } = yield* world()
      const { created_at: _at, created_by: _by, updated_at: _on, ...before } = rule
      yield* update(rule.id, { per_day: 5, paths: ["/v2"] })
      yield* remove(rule.id)
      const written = (yield* entries()).filter(({ action }) => action.startsWith("use_rule."))
      const after = { ...before, per_day: 5, paths: ["/v2"] }
      const { id: _id, key: _key, ...terms } = before
      assert.deepStrictEqual(
        written.map(({ action, metadata }) => [action, metadata]),
        [
          ["use_rule.create", { project: "webshop", env: "prod", key: "STRIPE_KEY", rule: before }],
          ["use_rule.update", { project: "webshop", env: "prod", key: "STRIPE_KEY", rule: after, before: terms }],
          ["use_rule.delete", { project: "webshop", env: "prod", key: "STRIPE_KEY", rule: after }]
        ]
      )
    }).pipe(withUpstream())
  )

  it.effect("counts as it is now, until it ends", () =>
    Effect.gen(function* () {
      const { bot, rule } = yield* world()
      yield* ask(bot)
      yield* update(rule.id, { methods: ["POST"] })
      assert.match(yield* refusal(bot), /^USE_REFUSED method GET is in no rule/)
      yield* update(rule.id, { methods: ["GET"], expires_at: "2026-01-31T12:10:00Z" })
      yield* ask(bot)
      yield* TestClock.adjust("10 minutes")
      assert.match(yield* refusal(bot), /^USE_REFUSED account agent is in no rule/)
    }).pipe(withUpstream())
  )

  it.effect("of each secret fits a request, and the strictest of them decides what comes back", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* world()
      yield* setSecret(ada, "SECOND_KEY", `${canary}-second`)
      const both = { secrets: [stripe, key("SECOND_KEY")] }
      assert.match(yield* refusal(bot, both), /^USE_REFUSED account agent is in no rule of SECOND_KEY/)
      const place = { in: "header", name: "x-second", format: "{}" } as const
      yield* allow({ place, response: "status" }, "SECOND_KEY")
      assert.deepStrictEqual(yield* ask(bot, both), { status: 200, headers: {}, truncated: false, scrubbed: 0 })
      const { authorization, "x-second": second } = other.arrived[0]?.headers ?? {}
      assert.deepStrictEqual([authorization, second], [`Bearer ${canary}`, `${canary}-second`])
    }).pipe(withUpstream())
  )

  it.effect("applies when it is the oldest of those that fit", () =>
    Effect.gen(function* () {
      const { bot, rule } = yield* world()
      yield* TestClock.adjust("1 second")
      yield* allow({ response: "status" })
      assert.include((yield* ask(bot)).body, "[scrubbed]")
      yield* remove(rule.id)
      assert.isUndefined((yield* ask(bot)).body)
    }).pipe(withUpstream())
  )
})

describe("a request with a secret", () => {
  it.effect("does not leave without its entry in the audit log", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      const database = yield* raw
      database.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
      assert.strictEqual((yield* Effect.exit(ask(bot)))._tag, "Failure")
      assert.deepStrictEqual(other.arrived, [])
      database.exec("DROP TRIGGER broken")
      yield* ask(bot)
      assert.strictEqual(other.arrived.length, 1)
    }).pipe(withUpstream())
  )

  it.effect(
    "finds a slot: 4 of an account, 8 of an organization and 16 of the server, in turns of the organizations",
    () =>
      Effect.gen(function* () {
        const inSlot = yield* makeSlots
        const end = yield* Deferred.make<void>()
        const run = (organization: string, account: string) =>
          Effect.provideService(inSlot(`${organization} ${account}`, Deferred.await(end), Effect.fail), Tenant, {
            name: organization
          })
        const start = (organization: string, account: string) =>
          Effect.forEach([1, 2, 3, 4], () => Effect.fork(run(organization, account)))
        for (const account of ["a", "b"]) yield* start("one", account)
        yield* Effect.yieldNow()
        const fifth = yield* Effect.flip(run("one", "a"))
        assert.match(fifth.message, /^4 of your requests are in flight: try again in 1 second/)
        assert.deepInclude(fifth, { retryAfter: 1, _tag: "UseBudget" })

        // Two more accounts of the organization do not take what is left of the server's slots.
        const third = yield* Effect.fork(Effect.flip(run("one", "c")))
        yield* Effect.yieldNow()
        const other = yield* Effect.fork(run("two", "a"))
        yield* TestClock.adjust("4 seconds")
        const refused = yield* Effect.fromFiber(third)
        assert.match(refused.message, /^all slots for requests with secrets are in use/)
        assert.isNull(other.unsafePoll(), "it has a slot, and no limit ends it")
        yield* Deferred.succeed(end, undefined)
        assert.strictEqual((yield* other.await)._tag, "Success")
        assert.isTrue(Either.isRight(yield* Effect.either(inSlot("one a", Effect.void, Effect.fail))))
      })
  )
})
