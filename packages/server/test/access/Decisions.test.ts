import type { Permission } from "@coffer/domain/access/AclRule"
import type { Role } from "@coffer/domain/directory/Member"
import { type Action, needs } from "@coffer/domain/access/Permissions"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decide, explain, type Grant, type PlaceNames, type Subject } from "../../src/access/place/Decisions.js"

/**
 * The decision for each action and role, as the specification states it. `yes` and `no` do not depend on rules; a permission
 * is the least that an access rule for the place has to give. The account's column is for an account that is not scoped to
 * a project and may see values; the exceptions are below.
 */
type Cell = "yes" | "no" | Permission
const table: Readonly<
  Record<Action, readonly [owner: Cell, admin: Cell, developer: Cell, member: Cell, account: Cell]>
> = {
  "org.read": ["yes", "yes", "yes", "yes", "yes"],
  "org.update": ["yes", "no", "no", "no", "no"],
  "org.delete": ["yes", "no", "no", "no", "no"],
  "org.restore": ["yes", "no", "no", "no", "no"],
  "org.erase": ["yes", "no", "no", "no", "no"],
  "org.export": ["yes", "no", "no", "no", "no"],
  "member.list": ["yes", "yes", "yes", "yes", "no"],
  "member.invite": ["yes", "yes", "no", "no", "no"],
  "member.update": ["yes", "no", "no", "no", "no"],
  "member.remove": ["yes", "yes", "no", "no", "no"],
  "member.leave": ["yes", "yes", "yes", "yes", "no"],
  "project.list": ["yes", "yes", "yes", "yes", "yes"],
  "project.create": ["yes", "yes", "no", "no", "no"],
  "project.read": ["yes", "yes", "yes", "yes", "yes"],
  "project.update": ["yes", "yes", "no", "no", "no"],
  "project.delete": ["yes", "yes", "no", "no", "no"],
  "project.restore": ["yes", "yes", "no", "no", "no"],
  "project.erase": ["yes", "yes", "no", "no", "no"],
  "env.list": ["yes", "yes", "yes", "yes", "yes"],
  "env.create": ["yes", "yes", "no", "no", "no"],
  "env.extend": ["yes", "yes", "no", "no", "no"],
  "previews.read": ["yes", "yes", "yes", "yes", "yes"],
  "previews.set": ["yes", "yes", "no", "no", "no"],
  "previews.delete": ["yes", "yes", "no", "no", "no"],
  "env.delete": ["yes", "yes", "no", "no", "no"],
  "env.restore": ["yes", "yes", "no", "no", "no"],
  "env.erase": ["yes", "yes", "no", "no", "no"],
  "secret.list": ["yes", "yes", "read", "read", "read"],
  "secret.read": ["yes", "yes", "read", "read", "read"],
  "secret.compare": ["yes", "yes", "read", "read", "read"],
  "secret.copy": ["yes", "yes", "read", "read", "read"],
  "secret.write": ["yes", "yes", "write", "no", "write"],
  "secret.destroy": ["yes", "yes", "admin", "no", "admin"],
  "due.list": ["yes", "yes", "yes", "yes", "yes"],
  "key.find": ["yes", "yes", "yes", "yes", "yes"],
  "protection.read": ["yes", "yes", "yes", "yes", "yes"],
  "protection.set": ["yes", "no", "no", "no", "no"],
  "protection.delete": ["yes", "no", "no", "no", "no"],
  "request.create": ["yes", "yes", "yes", "yes", "yes"],
  "request.list": ["yes", "yes", "yes", "yes", "yes"],
  "secret.uses": ["yes", "yes", "use", "use", "use"],
  "secret.use": ["yes", "yes", "use", "use", "use"],
  "use_rule.list": ["yes", "yes", "admin", "no", "no"],
  "use_rule.create": ["yes", "yes", "admin", "no", "no"],
  "use_rule.update": ["yes", "yes", "admin", "no", "no"],
  "use_rule.delete": ["yes", "yes", "admin", "no", "no"],
  "connection.list": ["yes", "yes", "no", "no", "no"],
  "connection.create": ["yes", "yes", "no", "no", "no"],
  "connection.delete": ["yes", "yes", "no", "no", "no"],
  "connection.test": ["yes", "yes", "no", "no", "no"],
  "orphan.delete": ["yes", "yes", "no", "no", "no"],
  "target.list": ["yes", "yes", "admin", "no", "no"],
  "target.create": ["yes", "yes", "admin", "no", "no"],
  "target.update": ["yes", "yes", "admin", "no", "no"],
  "target.delete": ["yes", "yes", "admin", "no", "no"],
  "target.push": ["yes", "yes", "admin", "no", "no"],
  "rotation.list": ["yes", "yes", "no", "no", "no"],
  "rotation.create": ["yes", "yes", "no", "no", "no"],
  "rotation.update": ["yes", "yes", "no", "no", "no"],
  "rotation.delete": ["yes", "yes", "no", "no", "no"],
  "rotation.run": ["yes", "yes", "no", "no", "no"],
  "lease_role.list": ["yes", "yes", "no", "no", "no"],
  "lease_role.create": ["yes", "yes", "no", "no", "no"],
  "lease_role.delete": ["yes", "yes", "no", "no", "no"],
  "lease.list": ["yes", "yes", "read", "read", "read"],
  "lease.create": ["yes", "yes", "read", "read", "read"],
  "lease.renew": ["yes", "yes", "read", "read", "read"],
  "lease.revoke": ["yes", "yes", "read", "read", "read"],
  "approval.list": ["yes", "yes", "yes", "yes", "no"],
  "approval.decide": ["yes", "yes", "admin", "no", "no"],
  "acl.list": ["yes", "yes", "no", "no", "admin"],
  "acl.grant": ["yes", "yes", "no", "no", "admin"],
  "acl.revoke": ["yes", "yes", "no", "no", "admin"],
  "acl.explain": ["yes", "yes", "yes", "yes", "yes"],
  "access.list": ["yes", "yes", "no", "no", "no"],
  "access.review": ["yes", "yes", "no", "no", "no"],
  "group.list": ["yes", "yes", "no", "no", "no"],
  "group.create": ["yes", "yes", "no", "no", "no"],
  "group.update": ["yes", "yes", "no", "no", "no"],
  "group.delete": ["yes", "yes", "no", "no", "no"],
  "group.members": ["yes", "yes", "no", "no", "no"],
  "group.map": ["yes", "no", "no", "no", "no"],
  "scim.read": ["yes", "yes", "no", "no", "no"],
  "scim.enable": ["yes", "no", "no", "no", "no"],
  "scim.rotate": ["yes", "no", "no", "no", "no"],
  "scim.disable": ["yes", "no", "no", "no", "no"],
  "service_account.list": ["yes", "yes", "no", "no", "no"],
  "service_account.create": ["yes", "yes", "no", "no", "no"],
  "service_account.update": ["yes", "yes", "no", "no", "no"],
  "service_account.rotate": ["yes", "yes", "no", "no", "no"],
  "service_account.revoke": ["yes", "yes", "no", "no", "no"],
  "federation.list": ["yes", "yes", "no", "no", "no"],
  "federation.create": ["yes", "yes", "no", "no", "no"],
  "federation.revoke": ["yes", "yes", "no", "no", "no"],
  "declared.list": ["yes", "yes", "yes", "yes", "yes"],
  "declared.set": ["yes", "yes", "no", "no", "no"],
  "declared.delete": ["yes", "yes", "no", "no", "no"],
  "webhook.list": ["yes", "yes", "no", "no", "no"],
  "webhook.create": ["yes", "yes", "no", "no", "no"],
  "webhook.update": ["yes", "yes", "no", "no", "no"],
  "webhook.delete": ["yes", "yes", "no", "no", "no"],
  "audit.read": ["yes", "yes", "no", "no", "no"],
  "audit.verify": ["yes", "yes", "no", "no", "no"]
}
/** The rules about rules are the organization's: any `admin` rule of the account counts, wherever it is for. */
const aboutRules: ReadonlyArray<Action> = ["acl.list", "acl.grant", "acl.revoke"]

const actions = Object.keys(table) as ReadonlyArray<Action>
const columns: ReadonlyArray<Role> = ["owner", "admin", "developer", "member"]
const place = { org: "acme", project: "webshop", env: "prod" }

const rank = { use: 1, read: 2, write: 3, admin: 4 } as const
const covers = (has: Permission, wanted: Permission) => rank[has] >= rank[wanted]

const rule = (permission: Permission, project_pattern = "*", env_pattern = "*"): Grant => ({
  id: `${permission} ${project_pattern} ${env_pattern}`,
  project_pattern,
  env_pattern,
  permission
})

/** Rules by name, with what they give at the place and what the best of them gives anywhere. */
const ruleSets: ReadonlyArray<
  readonly [name: string, grants: ReadonlyArray<Grant>, here: Permission | null, anywhere: Permission | null]
> = [
  ["no rule", [], null, null],
  ["use everywhere", [rule("use")], "use", "use"],
  ["read everywhere", [rule("read")], "read", "read"],
  ["write everywhere", [rule("write")], "write", "write"],
  ["admin everywhere", [rule("admin")], "admin", "admin"],
  ["read for this place by name", [rule("read", "webshop", "prod")], "read", "read"],
  ["write by patterns", [rule("write", "web*", "{staging,prod}")], "write", "write"],
  ["admin for another project", [rule("admin", "intranet", "*")], null, "admin"],
  ["admin for another environment", [rule("admin", "*", "staging")], null, "admin"],
  ["admin for either name alone", [rule("admin", "webshop", "dev"), rule("admin", "api", "prod")], null, "admin"],
  ["read here and admin elsewhere", [rule("read"), rule("admin", "*", "dev")], "read", "admin"],
  ["two rules for this place", [rule("read"), rule("write", "webshop")], "write", "write"]
]

const user = (role: Role | null, grants: ReadonlyArray<Grant>, superadmin = false): Subject => ({
  superadmin,
  role,
  account: null,
  grants
})
/** The actions that return values. */
const revealing: ReadonlySet<Action> = new Set(["secret.read", "lease.create", "lease.renew"])

const account = (scoped: boolean, reveal: boolean, grants: ReadonlyArray<Grant>): Subject => ({
  superadmin: false,
  role: null,
  account: { scoped, reveal },
  grants
})

const cellOf = (action: Action, role: Role | "account") =>
  table[action][role === "account" ? 4 : columns.indexOf(role)]!

const says = (cell: Cell, given: Permission | null) =>
  cell === "yes" || (cell !== "no" && given !== null && covers(given, cell))

const isAllowed = (action: Action, subject: Subject, at: PlaceNames = place) => decide(action, subject, at).allowed

describe("the table of permissions", () => {
  it("has every action", () => {
    assert.deepStrictEqual([...actions].sort(), Object.keys(needs).sort())
  })

  for (const action of actions) {
    describe(action, () => {
      for (const role of columns) {
        it(`by ${role}: ${cellOf(action, role)}`, () => {
          for (const [name, grants, here] of ruleSets) {
            assert.strictEqual(isAllowed(action, user(role, grants)), says(cellOf(action, role), here), name)
          }
        })
      }

      it(`by a service account: ${cellOf(action, "account")}`, () => {
        for (const [name, grants, here, anywhere] of ruleSets) {
          const given = aboutRules.includes(action) ? anywhere : here
          for (const [scoped, reveal] of [
            [false, true],
            [false, false],
            [true, true],
            [true, false]
          ] as const) {
            const wanted =
              says(cellOf(action, "account"), given) &&
              !(revealing.has(action) && !reveal) &&
              !(aboutRules.includes(action) && scoped)
            assert.strictEqual(
              isAllowed(action, account(scoped, reveal, grants)),
              wanted,
              `${name}, scoped ${scoped}, reveal ${reveal}`
            )
          }
        }
      })

      it("by nobody without a role, whatever the rules", () => {
        for (const [name, grants] of ruleSets) assert.isFalse(isAllowed(action, user(null, grants)), name)
      })

      it("by a superadmin always", () => {
        for (const role of [...columns, null]) {
          for (const [name, grants] of ruleSets) assert.isTrue(isAllowed(action, user(role, grants, true)), name)
        }
      })
    })
  }
})

const levels: ReadonlyArray<Permission> = ["use", "read", "write", "admin"]
const permission = FastCheck.constantFrom(...levels)
const patternFor = (names: ReadonlyArray<string>) => FastCheck.constantFrom("*", "x*", "??", "{a1,x}", ...names)
const grant = FastCheck.tuple(
  permission,
  patternFor(["webshop", "web*", "api"]),
  patternFor(["prod", "*d", "dev"])
).map(([level, project, env]) => rule(level, project, env))
const grants = FastCheck.array(grant, { maxLength: 4 })
const anyAction = FastCheck.constantFrom(...actions)
const anyRole = FastCheck.constantFrom(...columns, null)
const anyAccount = FastCheck.record({ scoped: FastCheck.boolean(), reveal: FastCheck.boolean() })
const anySubject = FastCheck.oneof(
  FastCheck.tuple(anyRole, grants).map(([role, rules]) => user(role, rules)),
  FastCheck.tuple(anyAccount, grants).map(([{ reveal, scoped }, rules]) => account(scoped, reveal, rules))
)
const anyPlace = FastCheck.record({
  org: FastCheck.constant("acme"),
  project: FastCheck.constantFrom("webshop", "api", "x1"),
  env: FastCheck.constantFrom("prod", "dev", "a1")
})

describe("a decision", () => {
  it.prop(
    "is no by default: without role, rule and superadmin's right there is only what any account may",
    [anyAction, anyPlace],
    ([action, at]) => {
      assert.isFalse(isAllowed(action, user(null, []), at))
      assert.strictEqual(isAllowed(action, account(false, true, []), at), table[action][4] === "yes")
      for (const role of ["developer", "member"] as const) {
        if (action.startsWith("secret.")) assert.isFalse(isAllowed(action, user(role, []), at))
      }
    }
  )

  it.prop(
    "is never lost by one more rule, nor by a higher level of one",
    [anyAction, anySubject, grant, anyPlace],
    ([action, subject, more, at]) => {
      if (!isAllowed(action, subject, at)) return
      assert.isTrue(isAllowed(action, { ...subject, grants: [...subject.grants, more] }, at))
      const raised = subject.grants.map((one) => ({ ...one, permission: "admin" as const }))
      assert.isTrue(isAllowed(action, { ...subject, grants: raised }, at))
    }
  )

  it.prop("for a level includes the lower ones", [permission, permission, anyPlace], ([has, wanted, at]) => {
    const action = (
      { use: "secret.use", read: "secret.read", write: "secret.write", admin: "secret.destroy" } as const
    )[wanted]
    for (const subject of [user("developer", [rule(has)]), account(true, true, [rule(has)])]) {
      assert.strictEqual(isAllowed(action, subject, at), covers(has, wanted))
    }
  })

  it.prop("for a role includes those below it", [anyAction, grants, anyPlace], ([action, rules, at]) => {
    const allowed = columns.map((role) => isAllowed(action, user(role, rules), at))
    for (const [index, may] of allowed.slice(1).entries()) {
      if (may) assert.isTrue(allowed[index], `${columns[index]!} may what ${columns[index + 1]!} may`)
    }
  })

  it.prop("never lets a member write", [grants, anyPlace], ([rules, at]) => {
    for (const action of ["secret.write", "secret.destroy"] as const) {
      assert.isFalse(isAllowed(action, user("member", rules), at))
    }
  })

  it.prop(
    "lets no service account past the rules, or through without a matching rule",
    [anyAccount, grants, anyPlace],
    ([{ reveal, scoped }, rules, at]) => {
      const project = { webshop: ["*", "webshop", "web*"], api: ["*", "api"], x1: ["*", "x*", "??"] }[at.project]!
      const env = { prod: ["*", "prod", "*d"], dev: ["*", "dev"], a1: ["*", "??", "{a1,x}"] }[at.env]!
      const best = rules
        .filter((one) => project.includes(one.project_pattern) && env.includes(one.env_pattern))
        .reduce((most, one) => Math.max(most, rank[one.permission]), 0)
      const subject = account(scoped, reveal, rules)
      assert.strictEqual(isAllowed("secret.use", subject, at), best >= 1)
      assert.strictEqual(isAllowed("secret.list", subject, at), best >= 2)
      assert.strictEqual(isAllowed("secret.read", subject, at), best >= 2 && reveal)
      assert.strictEqual(isAllowed("secret.write", subject, at), best >= 3)
      assert.strictEqual(isAllowed("secret.destroy", subject, at), best >= 4)
      assert.isFalse(isAllowed("use_rule.create", subject, at))
    }
  )

  it.prop(
    "never gives a value to an account made with reveal: false",
    [grants, FastCheck.boolean(), anyPlace],
    ([rules, scoped, at]) => {
      const decision = decide("secret.read", account(scoped, false, rules), at)
      assert.isFalse(decision.allowed)
      if (!decision.allowed) assert.include(decision.missing, "reveal: false")
    }
  )

  it("does not believe that a service account is a superadmin or has a role", () => {
    for (const action of actions) {
      const forged: Subject = { superadmin: true, role: "owner", account: { scoped: false, reveal: true }, grants: [] }
      assert.strictEqual(isAllowed(action, forged), table[action][4] === "yes", action)
    }
  })

  it.prop("does not apply a rule outside of an environment", [anyAction, anyRole, grants], ([action, role, rules]) => {
    for (const at of [{ org: "acme" }, { org: "acme", project: "webshop" }]) {
      assert.strictEqual(isAllowed(action, user(role, rules), at), isAllowed(action, user(role, []), at))
    }
  })

  it.prop(
    "says on what it rests: the role before the rule, and the superadmin's right only where nothing else allows it",
    [anyAction, anySubject, anyPlace],
    ([action, subject, at]) => {
      const decision = decide(action, subject, at)
      if (decision.allowed) assert.notStrictEqual(decision.via, "superadmin")
      if (subject.account !== null) return
      assert.deepStrictEqual(
        decide(action, { ...subject, superadmin: true }, at),
        decision.allowed ? decision : { allowed: true, via: "superadmin" }
      )
      const bare = decide(action, { ...subject, grants: [] }, at)
      if (bare.allowed) assert.deepStrictEqual(decision, { allowed: true, via: "role" })
    }
  )

  it.prop("is what an explanation says", [anySubject, FastCheck.boolean(), anyPlace], ([asked, superadmin, at]) => {
    const subject = asked.account === null ? { ...asked, superadmin } : asked
    const { allowed, because } = explain(subject, at)
    const actions = { use: "secret.use", read: "secret.list", write: "secret.write", admin: "secret.destroy" } as const
    for (const level of levels) {
      assert.strictEqual(allowed.includes(level), isAllowed(actions[level], subject, at), level)
    }
    if (allowed.length > 0) assert.isAbove(because.length, 0, "what is allowed has a ground")
    for (const { by, rule_id } of because) {
      assert.strictEqual(
        by === "rule",
        subject.grants.some(({ id }) => id === rule_id)
      )
    }
  })

  it("names the missing role or permission, and the place, when it refuses", () => {
    const missing = (action: Action, subject: Subject) => {
      const decision = decide(action, subject, place)
      return decision.allowed ? "" : decision.missing
    }
    for (const [action, subject, words] of [
      ["org.update", user("admin", []), ["owner", "acme"]],
      ["project.create", user("developer", [rule("admin")]), ["admin", "acme"]],
      ["secret.read", user("developer", []), ["read", "webshop/prod", "acme"]],
      ["secret.write", user("developer", [rule("read")]), ["write", "webshop/prod", "acme"]],
      ["secret.write", user("member", [rule("write")]), ["developer", "acme"]],
      ["secret.destroy", account(false, true, [rule("write")]), ["admin", "webshop/prod"]],
      ["audit.read", account(false, true, [rule("admin")]), ["admin", "service account"]],
      ["acl.grant", account(true, true, [rule("admin")]), ["admin", "without a project"]]
    ] as const) {
      for (const word of words) assert.include(missing(action, subject), word, action)
    }
  })
})
