import type { Actor } from "@coffer/domain/access/Actor"
import { Pattern } from "@coffer/domain/base/Pattern"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Acl, type GrantRequest } from "@coffer/server/directory/acl/Acl"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  account,
  asActor,
  email,
  entries,
  grant,
  member,
  onDatabase,
  organization,
  orgPath,
  outcome,
  transaction
} from "../support/Services.js"

const withRules = <A, E, R>(test: Effect.Effect<A, E, R>) => test.pipe(Effect.provide(Acl.Default), onDatabase())

const inOrg = <A extends "acl.grant" | "acl.list" | "acl.revoke" | "acl.explain">(action: A) =>
  Effect.flatMap(Access, (access) => access.org(orgPath(), action))

const toBob = {
  subject_type: "user",
  email: email("bob@example.com"),
  project_pattern: Pattern.to.make("webshop"),
  env_pattern: Pattern.to.make("*")
} as const

const granting = (actor: Actor, request: GrantRequest) =>
  Effect.flatMap(Acl, (acl) =>
    transaction(Effect.flatMap(inOrg("acl.grant"), (place) => acl.grant(place, request)))
  ).pipe(asActor(actor))

const listed = (actor: Actor) =>
  Effect.flatMap(Acl, (acl) => Effect.flatMap(inOrg("acl.list"), acl.list)).pipe(asActor(actor))

describe("rules for some keys", () => {
  it.effect("a rule of other keys, and one that denies, stand beside those that there are, and are listed", () =>
    withRules(
      Effect.gen(function* () {
        const owner = yield* organization()
        yield* member("bob@example.com", "developer")
        const whole = yield* granting(owner, { ...toBob, permission: "read" })
        const some = yield* granting(owner, { ...toBob, permission: "write", key_pattern: "API_*" })
        const no = yield* granting(owner, { ...toBob, permission: "use", key_pattern: "API_*", denies: true })
        assert.deepStrictEqual([whole.created, some.created, no.created], [true, true, true])
        const again = yield* granting(owner, { ...toBob, permission: "use", key_pattern: "API_*" })
        assert.deepStrictEqual([again.created, again.rule.id, again.rule.permission], [false, some.rule.id, "use"])
        const rules = (yield* listed(owner)).map(({ denies, key_pattern, permission }) => [
          permission,
          key_pattern,
          denies
        ])
        assert.sameDeepMembers(rules, [
          ["read", undefined, undefined],
          ["use", "API_*", undefined],
          ["use", "API_*", true]
        ])
        const made = (yield* entries()).filter(({ action }) => action === "acl.grant")
        assert.deepStrictEqual(
          made.map(({ metadata }) => {
            const { before, denies, key_pattern } = metadata as Record<string, unknown>
            return [key_pattern, denies, before]
          }),
          [
            [undefined, undefined, undefined],
            ["API_*", undefined, undefined],
            ["API_*", true, undefined],
            ["API_*", undefined, "write"]
          ]
        )
      })
    )
  )

  it.effect("every pattern of all keys is the rule without one, and admin is given for all keys alone", () =>
    withRules(
      Effect.gen(function* () {
        const owner = yield* organization()
        yield* member("bob@example.com", "developer")
        const { rule } = yield* granting(owner, { ...toBob, permission: "read" })
        for (const key_pattern of ["*", "**", "***"]) {
          const same = yield* granting(owner, { ...toBob, permission: "admin", key_pattern })
          assert.strictEqual(same.rule.id, rule.id, key_pattern)
          assert.notProperty(same.rule, "key_pattern")
        }
        const refused = yield* outcome(granting(owner, { ...toBob, permission: "admin", key_pattern: "API_*" }))
        assert.strictEqual(refused, "ValidationError")
        yield* granting(owner, { ...toBob, permission: "admin", key_pattern: "API_*", denies: true })
      })
    )
  )

  it.effect("a rule that denies takes nothing from an owner, and its explanation says so", () =>
    withRules(
      Effect.gen(function* () {
        const owner = yield* organization()
        assert(owner.type === "user")
        const self = { ...toBob, email: owner.email }
        yield* granting(owner, { ...self, permission: "use", denies: true })
        yield* granting(owner, { ...toBob, email: owner.email, permission: "use", key_pattern: "DB_*", denies: true })
        const acl = yield* Acl
        const { allowed, because } = yield* Effect.flatMap(inOrg("acl.explain"), (place) =>
          acl.explain(
            place,
            { subject_type: "user", email: owner.email },
            ProjectName.make("webshop"),
            EnvName.make("dev")
          )
        ).pipe(asActor(owner))
        assert.deepStrictEqual(allowed, ["use", "read", "write", "admin"])
        const limits = because.flatMap(({ denies, limited_by }) => (denies === true ? [limited_by] : []))
        assert.deepStrictEqual(limits, Array(2).fill("the role owner, which no rule takes from"))
      })
    )
  )

  it.effect("an account that a rule denies something manages no rules: it could revoke the rule", () =>
    withRules(
      Effect.gen(function* () {
        const owner = yield* organization()
        const ci = yield* account("ci")
        yield* grant(ci, "admin")
        assert.isNotEmpty(yield* listed(ci))
        const id = ServiceAccountId.make(ci.id)
        const denied = yield* granting(owner, {
          ...{ subject_type: "service_account", subject_id: id, permission: "use" },
          ...{ project_pattern: Pattern.to.make("other"), env_pattern: Pattern.to.make("*") },
          ...{ key_pattern: "DB_*", denies: true }
        })
        assert.strictEqual(yield* outcome(listed(ci)), "Forbidden")
        const revoking = Effect.flatMap(Acl, (acl) =>
          transaction(Effect.flatMap(inOrg("acl.revoke"), (place) => acl.revoke(place, denied.rule.id)))
        )
        assert.strictEqual(yield* outcome(revoking.pipe(asActor(ci))), "Forbidden")
        yield* revoking.pipe(asActor(owner))
        assert.isNotEmpty(yield* listed(ci))
      })
    )
  )
})
