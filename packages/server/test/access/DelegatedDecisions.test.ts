import type { Delegated, DelegatedPlace } from "@coffer/domain/access/Actor"
import { type Action, needs } from "@coffer/domain/access/Permissions"
import type { Permission } from "@coffer/domain/access/AclRule"
import { DelegationId, EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, GroupName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { Role } from "@coffer/domain/directory/Member"
import {
  beyondDelegation,
  decide,
  type Decision,
  explain,
  type Grant,
  neverDelegated,
  type Reason,
  type Subject
} from "@coffer/server/access/place/Decisions"
import { assert, describe, it } from "@effect/vitest"

const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const place = { org: "acme", project: "webshop", env: "prod" }
const at = (project: string, env: string): DelegatedPlace => ({
  project: { id: ProjectId.make(id), name: ProjectName.make(project) },
  env: { id: EnvId.make(id), name: EnvName.make(env) }
})
const delegated = (changes: Partial<Delegated> = {}): Delegated => ({
  id: DelegationId.make(id),
  name: "ci",
  isConnected: false,
  org: { id: OrgId.make(id), name: OrgName.make("acme") },
  places: [at("webshop", "prod")],
  permission: "write",
  reveal: true,
  keys: null,
  ofSuperadmin: false,
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-01-02T00:00:00.000Z",
  ...changes
})

/** The actions that a delegation does: those by rule with the permission that they need, and those of anybody. */
const byRule: Readonly<Partial<Record<Action, Permission>>> = {
  "secret.uses": "use",
  "secret.use": "use",
  "secret.list": "read",
  "secret.read": "read",
  "secret.compare": "read",
  "secret.copy": "read",
  "secret.write": "write",
  "secret.destroy": "admin",
  "lease.list": "read",
  "lease.create": "read",
  "lease.renew": "read",
  "lease.revoke": "read"
}
const revealing: ReadonlyArray<Action> = ["secret.read", "lease.create", "lease.renew"]
const ofAnybody: ReadonlyArray<Action> = ["request.create", "request.list", "acl.explain"]
const actions = Object.keys(needs) as ReadonlyArray<Action>
const levels = ["use", "read", "write", "admin"] as const
const given = ["use", "read", "write"] as const

const expected = (action: Action, { name, permission, reveal }: Delegated): string | null => {
  const need = byRule[action]
  if (need === undefined) return ofAnybody.includes(action) ? null : neverDelegated
  if (levels.indexOf(permission) < levels.indexOf(need))
    return `the delegation ${name} gives at most ${permission}, and this needs ${need}`
  return revealing.includes(action) && !reveal
    ? `the delegation ${name} was made without values and is never given one`
    : null
}

const rule = (permission: Permission, more: Partial<Grant> = {}): Grant => ({
  id: permission,
  project_pattern: "*",
  env_pattern: "*",
  permission,
  ...more
})
const person = (role: Role | null, grants: ReadonlyArray<Grant>): Subject => ({
  superadmin: false,
  role,
  account: null,
  grants
})
const account = (reveal: boolean, grants: ReadonlyArray<Grant>): Subject => ({
  superadmin: false,
  role: null,
  account: { scoped: false, reveal },
  grants
})

describe("a delegation", () => {
  it("covers what it gives at its place, and says of every other action why not", () => {
    for (const action of actions)
      for (const permission of given)
        for (const reveal of [true, false]) {
          const delegation = delegated({ permission, reveal })
          const name = `${action} ${permission} ${reveal}`
          assert.strictEqual(beyondDelegation(delegation, action, place), expected(action, delegation), name)
        }
  })

  it("covers its own environment, and the project and organization around it", () => {
    const elsewhere = "the delegation ci is for environment webshop/prod of organization acme alone"
    for (const [at, answer] of [
      [place, null],
      [{ org: "acme", project: "webshop" }, null],
      [{ org: "acme" }, null],
      [{ ...place, org: "other" }, elsewhere],
      [{ ...place, project: "other" }, elsewhere],
      [{ ...place, env: "dev" }, elsewhere],
      [{ org: "other" }, elsewhere],
      [{ org: "acme", project: "other" }, elsewhere]
    ] as const) {
      assert.strictEqual(beyondDelegation(delegated(), "secret.list", at), answer, JSON.stringify(at))
    }
  })

  it("covers each of its environments, and no environment with the project of one and the name of another", () => {
    const delegation = delegated({ places: [at("webshop", "prod"), at("webshop", "dev"), at("billing", "prod")] })
    const elsewhere =
      "the delegation ci is for environments webshop/prod, webshop/dev, billing/prod of organization acme alone"
    for (const [project, env, answer] of [
      ["webshop", "prod", null],
      ["webshop", "dev", null],
      ["billing", "prod", null],
      ["billing", undefined, null],
      ["billing", "dev", elsewhere],
      ["other", "prod", elsewhere],
      ["other", undefined, elsewhere]
    ] as const) {
      const asked = { org: "acme", project, env }
      assert.strictEqual(beyondDelegation(delegation, "secret.list", asked), answer, `${project}/${env}`)
    }
    assert.strictEqual(beyondDelegation(delegation, "secret.list", { ...place, org: "other" }), elsewhere)
  })

  it("with keys covers these alone, and calls that name no key", () => {
    const [mine, other] = [SecretKey.make("MINE"), SecretKey.make("OTHER")]
    const delegation = delegated({ keys: new Set([mine]) })
    assert.isNull(beyondDelegation(delegation, "secret.write", place, mine))
    assert.isNull(beyondDelegation(delegation, "secret.write", place))
    assert.isNull(beyondDelegation(delegated(), "secret.write", place, other))
    const limited = "the delegation ci is limited to other keys"
    assert.strictEqual(beyondDelegation(delegation, "secret.write", place, other), limited)
  })

  it("never gives more than the person has, nor more than itself, whatever the person's role and rules", () => {
    const grants = [rule("admin")]
    for (const action of actions)
      for (const subject of [
        person("owner", grants),
        person("member", []),
        { ...person(null, []), superadmin: true }
      ]) {
        const delegation = delegated({ permission: "read", reveal: false })
        const beyond = expected(action, delegation)
        const wanted: Decision = beyond === null ? decide(action, subject, place) : { allowed: false, missing: beyond }
        assert.deepStrictEqual(decide(action, { ...subject, delegation }, place), wanted, action)
        assert.deepStrictEqual(decide(action, { ...subject, delegation: null }, place), decide(action, subject, place))
      }
  })
})

const all = levels.map((level) => rule(level))
/** The reasons of rules of all levels, with what limits them. */
const rules = (limits: Partial<Record<Permission, string>>): ReadonlyArray<Reason> =>
  levels.map((permission) => ({
    permission,
    by: "rule",
    rule_id: permission,
    ...(limits[permission] !== undefined && { limited_by: limits[permission] })
  }))
const never = "reveal: false, no value is ever returned"
const most = (permission: Permission) => `the delegation ci, which gives at most ${permission}`

describe("an explanation", () => {
  for (const [name, subject, because] of [
    ["of a developer: the rules", person("developer", all), rules({})],
    [
      "of a member: rules that write are limited by the role",
      person("member", all),
      rules({ write: "the role member, which never writes", admin: "the role member, which never writes" })
    ],
    [
      "of a stranger: as of a member",
      person(null, all),
      rules({ write: "the role none, which never writes", admin: "the role none, which never writes" })
    ],
    ["of an account that is given values: the rules", account(true, all), rules({})],
    [
      "of an account without values: every rule but for use is limited",
      account(false, all),
      rules({ read: never, write: never, admin: never })
    ],
    [
      "of an admin: the role before the rules",
      person("admin", all),
      [{ permission: "admin", by: "role", role: "admin" }, ...rules({})]
    ],
    [
      "of a superadmin who owns the organization: both, before the rules",
      { ...person("owner", all), superadmin: true },
      [{ permission: "admin", by: "superadmin" }, { permission: "admin", by: "role", role: "owner" }, ...rules({})]
    ],
    [
      "of an account: never a role or a superadmin's right",
      { ...account(true, []), superadmin: true, role: "owner" },
      []
    ],
    [
      "of a delegation that reads: what it gives limits the role and the rules",
      { ...person("owner", all), superadmin: true, delegation: delegated({ permission: "read" }) },
      [
        { permission: "admin", by: "superadmin", limited_by: most("read") },
        { permission: "admin", by: "role", role: "owner", limited_by: most("read") },
        ...rules({ write: most("read"), admin: most("read") })
      ]
    ],
    [
      "of a delegation without values: every rule but for use is limited",
      { ...person("developer", all), delegation: delegated({ permission: "write", reveal: false }) },
      rules({ read: never, write: never, admin: most("write") })
    ],
    [
      "of a delegation of a member: its limit before that of the role",
      { ...person("member", all), delegation: delegated({ permission: "read" }) },
      rules({ write: most("read"), admin: most("read") })
    ],
    [
      "of a rule that is for another environment: nothing",
      person("developer", [rule("read", { env_pattern: "dev" }), rule("read", { project_pattern: "api" })]),
      []
    ],
    [
      "of a rule of a group that ends: the group and the time",
      person("developer", [
        rule("read", { group: GroupName.make("ops"), expires_at: 0 }),
        rule("use", { expires_at: null })
      ]),
      [
        { permission: "read", by: "rule", rule_id: "read", group: "ops", expires_at: "1970-01-01T00:00:00.000Z" },
        { permission: "use", by: "rule", rule_id: "use" }
      ]
    ]
  ] as ReadonlyArray<readonly [string, Subject, ReadonlyArray<Reason>]>) {
    it(name, () => {
      assert.deepStrictEqual(explain(subject, place).because, because)
    })
  }
})

describe("a refusal", () => {
  it("names the place for which a rule is missing, as far as it is asked for", () => {
    for (const [at, words] of [
      [{ org: "acme" }, "organization acme"],
      [{ org: "acme", project: "webshop" }, "project webshop of organization acme"],
      [place, "environment webshop/prod of organization acme"]
    ] as const) {
      assert.deepStrictEqual(decide("secret.read", person("developer", []), at), {
        allowed: false,
        missing: `this needs a rule with permission read for ${words}`
      })
    }
  })

  it("is the answer at every place that names no environment of a project, whatever the rules", () => {
    for (const at of [{ org: "acme" }, { org: "acme", project: "webshop" }, { org: "acme", env: "prod" }]) {
      assert.isFalse(decide("secret.read", person("developer", all), at).allowed, JSON.stringify(at))
    }
  })
})
