import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { SecretKey } from "@coffer/domain/base/Names"
import type { Role } from "@coffer/domain/directory/Member"
import type { Action } from "@coffer/domain/access/Permissions"
import { decide, explain, type Grant, type KeyScope, type Subject } from "@coffer/server/access/place/Decisions"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

// The oracle: what the specification says, written without the code that decides.

const keys = ["API_KEY", "API_URL", "DB_URL", "STRIPE_KEY", "api_key"].map((name) => SecretKey.make(name))
const keyPatterns = ["**", "*", "API_KEY", "API_*", "*_KEY", "*P*_*", "NONE", "DB_URL", "ap*"] as const
const envPatterns = ["*", "prod", "dev", "pr*", "{dev,prod}"] as const

/** `*` is any text, and case counts. */
const fits = (pattern: string, text: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/\{(.*)\}/, (_all, inside: string) => `(${inside.split(",").join("|")})`)
      .replaceAll("*", ".*")}$`
  ).test(text)

const rank = (permission: Permission) => permissions.indexOf(permission)

/** A rule gives its permission and those below it; one that denies takes its permission and those above it. */
const mayByRules = (rules: ReadonlyArray<Grant>, wanted: Permission, env: string, key: string): boolean => {
  const about = rules.filter((rule) => fits(rule.env_pattern, env) && fits(rule.key_pattern ?? "**", key))
  const gives = about.some((rule) => rule.denies !== true && rank(rule.permission) >= rank(wanted))
  const takes = about.some((rule) => rule.denies === true && rank(rule.permission) <= rank(wanted))
  return gives && !takes
}

interface Person {
  readonly role: Role | "account"
  readonly superadmin: boolean
}

/** Owners and admins need no rule, and none takes anything from them; members never write; superadmins bypass all. */
const mayWith = (
  { role, superadmin }: Person,
  rules: ReadonlyArray<Grant>,
  wanted: Permission,
  env: string,
  key: string
): boolean =>
  (superadmin && role !== "account") ||
  role === "owner" ||
  role === "admin" ||
  (mayByRules(rules, wanted, env, key) && (role !== "member" || rank(wanted) <= rank("read")))

const actions = {
  use: "secret.use",
  read: "secret.read",
  write: "secret.write",
  admin: "secret.destroy"
} as const satisfies Record<Permission, Action>

const ruleForm: fc.Arbitrary<Grant> = fc.record({
  id: fc.constantFrom("one", "two"),
  project_pattern: fc.constant("webshop"),
  env_pattern: fc.constantFrom(...envPatterns),
  permission: fc.constantFrom(...permissions),
  key_pattern: fc.constantFrom(...keyPatterns),
  denies: fc.constantFrom(false, false, true)
})

const personForm: fc.Arbitrary<Person> = fc.record({
  role: fc.constantFrom("owner", "admin", "developer", "member", "account" as const),
  superadmin: fc.constantFrom(false, false, false, true)
})

const subjectOf = ({ role, superadmin }: Person, grants: ReadonlyArray<Grant>): Subject => ({
  superadmin: superadmin && role !== "account",
  role: role === "account" ? null : role,
  account: role === "account" ? { scoped: false, reveal: true } : null,
  grants
})

const asked = fc.record({
  person: personForm,
  rules: fc.array(ruleForm, { maxLength: 5 }),
  wanted: fc.constantFrom(...permissions),
  env: fc.constantFrom("prod", "dev")
})

const decided = (
  { env, person, rules, wanted }: typeof asked extends fc.Arbitrary<infer A> ? A : never,
  keys: KeyScope
) => decide(actions[wanted], subjectOf(person, rules), { org: "acme", project: "webshop", env }, keys)

describe("rules that name keys", () => {
  it("decide for each key as the specification says", () => {
    fc.assert(
      fc.property(asked, fc.constantFrom(...keys), (one, key) => {
        const { env, person, rules, wanted } = one
        assert.strictEqual(decided(one, { key }).allowed, mayWith(person, rules, wanted, env, key))
      }),
      { numRuns: runs(5_000) }
    )
  })

  it("admit to the part of an environment that they give, and to no other key", () => {
    fc.assert(
      fc.property(asked, (one) => {
        const { env, person, rules, wanted } = one
        const decision = decided(one, "some")
        for (const key of keys) {
          const isGiven = decision.allowed && decision.reach?.has(key) !== false
          assert.strictEqual(isGiven, mayWith(person, rules, wanted, env, key), key)
        }
      }),
      { numRuns: runs(5_000) }
    )
  })

  it("are never enough for what is about all keys", () => {
    fc.assert(
      fc.property(asked, fc.constantFrom(...keys), (one, key) => {
        const { env, person, rules, wanted } = one
        const whole = decided(one, "all")
        if (!whole.allowed) return
        assert.isUndefined(whole.reach)
        assert.isTrue(mayWith(person, rules, wanted, env, key))
      }),
      { numRuns: runs(5_000) }
    )
  })

  it("decide on all keys as before where every rule is for all of them, and no rule denies", () => {
    fc.assert(
      fc.property(asked, (one) => {
        const rules = one.rules.map(({ denies: _denies, key_pattern: _pattern, ...rule }) => rule)
        const whole = decided({ ...one, rules }, "all")
        assert.deepStrictEqual(decided({ ...one, rules }, "some"), whole)
        assert.strictEqual(whole.allowed, mayWith(one.person, rules, one.wanted, one.env, "API_KEY"))
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("are explained as they decide, for a key and for all", () => {
    fc.assert(
      fc.property(asked, fc.option(fc.constantFrom(...keys), { nil: undefined }), ({ env, person, rules }, key) => {
        const subject = subjectOf(person, rules)
        const place = { org: "acme", project: "webshop", env }
        const { allowed, allowed_for_some, because } = explain(subject, place, key)
        for (const permission of permissions) {
          const scope = key === undefined ? "all" : { key }
          assert.strictEqual(allowed.includes(permission), decide(actions[permission], subject, place, scope).allowed)
          assert.strictEqual(
            allowed_for_some.includes(permission),
            key === undefined &&
              !allowed.includes(permission) &&
              decide(actions[permission], subject, place, "some").allowed
          )
        }
        if (allowed.length + allowed_for_some.length > 0) assert.isTrue(because.some(({ denies }) => denies !== true))
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("say which keys they are for in a refusal, and who may have the rest", () => {
    const rules: ReadonlyArray<Grant> = [
      { id: "one", project_pattern: "*", env_pattern: "*", permission: "read", key_pattern: "API_*" }
    ]
    const place = { org: "acme", project: "webshop", env: "prod" }
    const subject = subjectOf({ role: "developer", superadmin: false }, rules)
    assert.deepStrictEqual(decide("secret.read", subject, place, { key: SecretKey.make("DB_URL") }), {
      allowed: false,
      missing: "this needs a rule with permission read for key DB_URL of environment webshop/prod of organization acme"
    })
    assert.deepStrictEqual(decide("secret.compare", subject, place), {
      allowed: false,
      missing:
        "this needs a rule with permission read for all keys of environment webshop/prod of organization acme, and yours are for some"
    })
  })

  it("are named in a refusal if they deny, because another rule would not help", () => {
    const grant = { project_pattern: "*", env_pattern: "*", permission: "read" } as const
    const rules: ReadonlyArray<Grant> = [
      { ...grant, id: "one" },
      { ...grant, id: "two", key_pattern: "DB_*", denies: true }
    ]
    const place = { org: "acme", project: "webshop", env: "prod" }
    const there = "environment webshop/prod of organization acme"
    const ask = (some: ReadonlyArray<Grant>, name: string) =>
      decide("secret.read", subjectOf({ role: "developer", superadmin: false }, some), place, {
        key: SecretKey.make(name)
      })
    assert.deepStrictEqual(ask(rules, "DB_URL"), {
      allowed: false,
      missing: `a rule denies read for key DB_URL of ${there}, whatever other rules give`
    })
    assert.isTrue(ask(rules, "API_KEY").allowed)
    const none = [{ ...grant, id: "two", key_pattern: "**", denies: true }]
    assert.deepStrictEqual(ask(none, "API_KEY"), {
      allowed: false,
      missing: `a rule denies read for ${there}, whatever other rules give`
    })
    assert.match(
      String(Object(ask([{ ...grant, id: "two", key_pattern: "A*", denies: true }], "DB_URL")).missing),
      /^this needs a rule/
    )
  })
})
