import type { Delegated, ServiceAccountActor, UserActor } from "@coffer/domain/access/Actor"
import { ApiKeyId, DelegationId, EnvId, OrgId, ProjectId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { Email, EnvName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import { AuthenticatedCaller, namesIn } from "@coffer/server/access/caller/AuthenticatedCaller"
import { loginTooOld, requirePasskey, requireRecentLogin } from "@coffer/server/access/caller/RecentLogin"
import { delegationLimit, isRecentLogin, sessionLimitsAt } from "@coffer/server/access/caller/SessionLimits"
import { mayKnow, subjectOf, tenantOfCaller } from "@coffer/server/access/caller/Subject"
import type { FoundPlace } from "@coffer/server/access/place/PlaceRow"
import { HttpRouter } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Either, Schema } from "effect"

const email = Schema.decodeSync(Email)
const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const otherId = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f"
const org = { id: OrgId.make(id), name: OrgName.make("acme") }
const project = { id: ProjectId.make(id), name: ProjectName.make("webshop") }

const delegation: Delegated = {
  id: DelegationId.make(id),
  name: "ci",
  isConnected: false,
  org,
  places: [{ project, env: { id: EnvId.make(id), name: EnvName.make("prod") } }],
  permission: "read",
  reveal: true,
  keys: null,
  ofSuperadmin: false,
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-01-02T00:00:00.000Z"
}
const person = (changes: Partial<UserActor> = {}): UserActor => ({
  type: "user",
  id: UserId.make(otherId),
  email: email("ada@example.com"),
  name: "Ada",
  superadmin: false,
  sessionId: null,
  sessionKind: "cookie",
  loginIsRecent: false,
  mayRecover: false,
  hasPasskey: false,
  passkeyIsRecent: false,
  delegation: null,
  ...changes
})
const account = (changes: Partial<ServiceAccountActor> = {}): ServiceAccountActor => ({
  type: "service_account",
  id: ServiceAccountId.make(otherId),
  name: ServiceAccountName.make("deploy"),
  orgId: org.id,
  orgName: org.name,
  project: null,
  reveal: true,
  credential: { type: "key", id: ApiKeyId.make(id), sessionId: null },
  ...changes
})
const found = (changes: Partial<FoundPlace> = {}): FoundPlace => ({
  org,
  project: null,
  env: null,
  isProtected: false,
  extent: { secrets: 0, bytes: 0 },
  role: null,
  invitation: null,
  grants: [],
  ...changes
})
const delegated = (ofSuperadmin: boolean) => person({ delegation: { ...delegation, ofSuperadmin } })

describe("the subject of a decision", () => {
  it("a person has the role and the rules, and a superadmin's right by itself or through a delegation of one", () => {
    for (const [actor, superadmin] of [
      [person(), false],
      [person({ superadmin: true }), true],
      [delegated(false), false],
      [delegated(true), true]
    ] as const) {
      const subject = { superadmin, role: "developer", account: null, grants: [], delegation: actor.delegation }
      assert.deepStrictEqual(subjectOf({ actor, role: "developer", grants: [] }), { ...subject, role: "developer" })
    }
  })

  it("a service account has its limits, and the right of a superadmin never", () => {
    for (const [actor, limits] of [
      [account(), { scoped: false, reveal: true }],
      [account({ project }), { scoped: true, reveal: true }],
      [account({ reveal: false }), { scoped: false, reveal: false }]
    ] as const) {
      const subject = { superadmin: false, role: null, account: limits, grants: [] }
      assert.deepStrictEqual(subjectOf({ actor, role: null, grants: [] }), subject)
    }
  })
})

describe("an organization", () => {
  it("is known to its members, its accounts, superadmins and their delegations, and to nobody else", () => {
    for (const [actor, role, isKnown] of [
      [person(), null, false],
      [person(), "member", true],
      [person({ superadmin: true }), null, true],
      [delegated(false), null, false],
      [delegated(true), null, true],
      [account(), null, true],
      [account({ orgId: OrgId.make(otherId) }), null, false]
    ] as const) {
      assert.strictEqual(mayKnow(actor, found({ role })), isKnown)
    }
  })

  it("is the tenant of its accounts, and of people on a path that they may know of; others count as themselves", () => {
    const nowhere = { org: null, project: null, env: null }
    const callerOf = (actor: UserActor, place: FoundPlace | null) => new AuthenticatedCaller(actor, nowhere, place)
    assert.strictEqual(tenantOfCaller({ actor: account() }), org.id)
    assert.strictEqual(tenantOfCaller({ actor: person() }), otherId)
    assert.strictEqual(tenantOfCaller(callerOf(person(), null)), otherId)
    assert.strictEqual(tenantOfCaller(callerOf(person(), found())), otherId)
    assert.strictEqual(tenantOfCaller(callerOf(person(), found({ role: "member" }))), org.id)
  })
})

describe("the place that was read with a caller", () => {
  const names = { org: "acme", project: "webshop", env: "prod" }

  it("is given once, and not again", () => {
    const caller = new AuthenticatedCaller(person(), names, found())
    assert.deepStrictEqual(caller.takePlace({ ...names }), found())
    assert.isUndefined(caller.takePlace({ ...names }))
    assert.isNull(new AuthenticatedCaller(person(), names, null).takePlace(names))
  })

  it("is not given for other names", () => {
    for (const other of [
      { ...names, org: "other" },
      { ...names, project: null },
      { ...names, env: null }
    ]) {
      assert.isUndefined(new AuthenticatedCaller(person(), names, found()).takePlace(other), JSON.stringify(other))
    }
  })

  it("names the organization, or null", () => {
    assert.strictEqual(new AuthenticatedCaller(person(), names, found()).orgId, org.id)
    assert.isNull(new AuthenticatedCaller(person(), names, null).orgId)
  })
})

describe("the names on the path of a request", () => {
  const namesOf = (params: Readonly<Record<string, string | undefined>>) =>
    namesIn(Context.unsafeMake(new Map([[HttpRouter.RouteContext.key, { params }]])))

  it("are those of the route, and null where the route has no name or one that nothing can have", () => {
    assert.deepStrictEqual(namesOf({ org_name: "acme", project_name: "webshop", env_name: "prod" }), {
      org: "acme",
      project: "webshop",
      env: "prod"
    })
    assert.deepStrictEqual(namesOf({ org_name: "acme" }), { org: "acme", project: null, env: null })
    assert.deepStrictEqual(namesOf({ org_name: "a\0b", project_name: "", env_name: " " }), {
      org: null,
      project: null,
      env: null
    })
  })

  it("are null without a route", () => {
    assert.deepStrictEqual(namesIn(Context.empty()), { org: null, project: null, env: null })
  })
})

const outcome = <E>(effect: Effect.Effect<void, E>) => Effect.runSync(Effect.either(effect))

describe("a recent login", () => {
  it("is needed of people alone", () => {
    assert.isTrue(Either.isRight(outcome(requireRecentLogin(account()))))
    assert.isTrue(Either.isRight(outcome(requireRecentLogin(person({ loginIsRecent: true })))))
    const old = outcome(requireRecentLogin(person()))
    assert.strictEqual(Either.isLeft(old) && old.left._tag, "Reauthenticate")
  })

  it("by passkey is needed of whoever has one; the others are refused, accounts too", () => {
    assert.isTrue(Either.isRight(outcome(requirePasskey(person({ hasPasskey: true, passkeyIsRecent: true })))))
    for (const [actor, tag, word] of [
      [
        person({ hasPasskey: true, loginIsRecent: true }),
        "Reauthenticate",
        "then retry: this needs a proof from the last 15 minutes"
      ],
      [person({ loginIsRecent: true }), "Forbidden", "register one"],
      [account(), "Forbidden", "register one"]
    ] as const) {
      const found = outcome(requirePasskey(actor))
      if (Either.isRight(found)) assert.fail(`${actor.type} passes`)
      assert.strictEqual(found.left._tag, tag)
      assert.include(found.left.message, word)
    }
  })

  it("is asked for in the words of the session: what to do, and for how long it counts", () => {
    for (const [sessionKind, hasPasskey, proof, words] of [
      ["cookie", false, "session", "log in again first, then retry: this needs a login from the last 15 minutes"],
      ["cookie", false, "now", "log in again first, then retry: this needs a login from the last 15 minutes"],
      ["token", false, "session", "began without a proof of who you are"],
      ["token", false, "now", "log in again first, then retry: this needs a login from the last 15 minutes"],
      [
        "cookie",
        true,
        "session",
        "verify with your passkey first, then retry: this needs a proof from the last 15 minutes"
      ],
      [
        "cookie",
        true,
        "now",
        "verify with your passkey first, then retry: this needs a proof from the last 15 minutes"
      ],
      ["cookie", true, "recovery", "or log in again if you lost it"],
      ["token", true, "session", "verify with your passkey first (coffer reauthenticate), then retry"],
      ["token", true, "now", "(coffer reauthenticate), then retry: this needs a proof from the last 15 minutes"],
      ["token", true, "recovery", "or log in again if you lost it"]
    ] as const) {
      assert.include(loginTooOld(person({ sessionKind, hasPasskey }), proof).message, words)
    }
    assert.strictEqual(loginTooOld(person()).message, loginTooOld(person(), "session").message)
  })

  it("counts for 15 minutes, and not at their end", () => {
    const now = Date.parse("2026-03-01T12:00:00.000Z")
    assert.isTrue(isRecentLogin("2026-03-01T11:45:00.001Z", now))
    assert.isFalse(isRecentLogin("2026-03-01T11:45:00.000Z", now))
  })
})

describe("the limits of a session", () => {
  it("are 30 days from its beginning and 12 hours from its last use, and hours for a delegation", () => {
    assert.deepStrictEqual(sessionLimitsAt(Date.parse("2026-03-31T12:00:00.000Z")), {
      bornAfter: "2026-03-01T12:00:00.000Z",
      usedAfter: "2026-03-31T00:00:00.000Z"
    })
    assert.deepStrictEqual(delegationLimit({ delegationMaxHours: 24 }), { maxMillis: 86_400_000 })
  })
})
