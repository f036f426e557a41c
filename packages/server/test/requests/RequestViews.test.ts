import type { UserActor } from "@coffer/domain/access/Actor"
import {
  ApiKeyId,
  DelegationId,
  EnvId,
  OrgId,
  ProjectId,
  RequestId,
  RuleId,
  ServiceAccountId,
  UserId
} from "@coffer/domain/base/Ids"
import { Email, EnvName, OrgName, ProjectName, SecretKey, ServiceAccountName } from "@coffer/domain/base/Names"
import type { AffectedKey } from "@coffer/server/access/gate/GateDecision"
import type { RequestRow } from "@coffer/server/directory/requests/Repo"
import {
  affectedIn,
  differences,
  factsOf,
  isOwn,
  requestOf,
  rulesOf,
  textsIn,
  unprotected,
  voteRefusal
} from "@coffer/server/directory/requests/RequestViews"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const email = Schema.decodeSync(Email)
const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const otherId = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f"
const key = (text: string) => SecretKey.make(text)

const person = (changes: Partial<UserActor> = {}): UserActor => ({
  type: "user",
  id: UserId.make(id),
  email: email("ada@example.com"),
  name: "Ada",
  superadmin: false,
  sessionId: null,
  sessionKind: null,
  loginIsRecent: true,
  mayRecover: false,
  hasPasskey: false,
  passkeyIsRecent: false,
  delegation: null,
  ...changes
})
const row = (changes: Partial<RequestRow> = {}): RequestRow => ({
  id: RequestId.make(id),
  kind: "change",
  state: "pending",
  org_id: OrgId.make(id),
  project_id: ProjectId.make(id),
  project: ProjectName.make("webshop"),
  env_id: EnvId.make(id),
  env: EnvName.make("prod"),
  is_live: 1,
  actor_type: "user",
  actor_id: UserId.make(otherId),
  actor_name: "bob@example.com",
  delegation_id: null,
  reason: null,
  call: null,
  keys: null,
  details: null,
  named: null,
  permission: null,
  expires_in: null,
  rule_id: null,
  revision: null,
  outdated: null,
  protection_version: 1,
  needed: 1,
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: 0,
  decided_at: null,
  votes: null,
  approvers: "admins",
  self: 0,
  passkey: 0,
  version: 1,
  ...changes
})

describe("the terms of a vote", () => {
  it("are those of the protection, but nobody grants themselves access", () => {
    const terms = { approvers: "admins", self: false, passkey: false, version: 1 } as const
    assert.deepStrictEqual(rulesOf(row()), terms)
    assert.deepStrictEqual(rulesOf(row({ passkey: 1 })), { ...terms, passkey: true })
    assert.deepStrictEqual(rulesOf(row({ self: 1 })), { ...terms, self: true })
    assert.deepStrictEqual(rulesOf(row({ self: 1, kind: "access" })), terms)
    const named = row({ approvers: '["ada@example.com"]' })
    assert.deepStrictEqual(rulesOf(named), { ...terms, approvers: [email("ada@example.com")] })
  })

  it("without a protection are one vote of an admin", () => {
    const none = { needed: 1, approvers: "admins", self: false, passkey: false, version: 0 } as const
    assert.deepStrictEqual(unprotected, none)
    assert.deepStrictEqual(rulesOf(row({ approvers: null, version: null })), none)
    assert.deepStrictEqual(rulesOf(row({ approvers: null, self: 1, passkey: 1 })), none)
    assert.deepStrictEqual(rulesOf(row({ version: null, self: 1, passkey: 1 })), none)
  })
})

describe("a vote", () => {
  const account = {
    type: "service_account",
    id: ServiceAccountId.make(id),
    name: ServiceAccountName.make("deploy"),
    orgId: OrgId.make(id),
    orgName: OrgName.make("acme"),
    project: null,
    reveal: true,
    credential: { type: "key", id: ApiKeyId.make(id), sessionId: null }
  } as const
  const delegation = {
    id: DelegationId.make(id),
    name: "ci",
    org: { id: OrgId.make(id), name: OrgName.make("acme") },
    places: [
      {
        project: { id: ProjectId.make(id), name: ProjectName.make("webshop") },
        env: { id: EnvId.make(id), name: EnvName.make("prod") }
      }
    ],
    permission: "write",
    reveal: true,
    keys: null,
    ofSuperadmin: false,
    isConnected: false,
    createdAt: "",
    expiresAt: ""
  } as const
  const own = (changes: Partial<RequestRow> = {}) => row({ actor_id: UserId.make(id), ...changes })
  const people = "only people vote, as themselves"
  const unnamed = "the protection of webshop/prod does not name you"

  for (const [name, actor, role, request, refusal] of [
    ["of an admin counts", person(), "admin", row(), null],
    ["of a service account is refused", account, null, row({ approvers: null }), people],
    ["by a delegation is refused", person({ delegation }), "owner", row(), people],
    ["of a developer is refused", person(), "developer", row(), unnamed],
    ["of a superadmin who is no member is refused", person({ superadmin: true }), null, row(), unnamed],
    ["on one's own request is refused", person(), "admin", own(), "your own request needs the vote of somebody else"],
    ["on one's own request counts if the protection says so", person(), "admin", own({ self: 1 }), null],
    [
      "on one's own request for access never counts",
      person(),
      "owner",
      own({ self: 1, kind: "access" }),
      "your own request needs the vote of somebody else"
    ]
  ] as const) {
    it(name, () => {
      assert.strictEqual(voteRefusal(actor, role, request), refusal)
      assert.strictEqual(requestOf(actor, role, request).may_vote, refusal === null)
      assert.strictEqual(isOwn(actor, request), actor.id === request.actor_id)
      assert.strictEqual(requestOf(actor, role, request).is_own, actor.id === request.actor_id)
    })
  }

  it("is given once, and while the request is pending", () => {
    const mayVote = (changes: Partial<RequestRow>) => requestOf(person(), "admin", row(changes)).may_vote
    assert.isTrue(mayVote({}))
    assert.isFalse(mayVote({ state: "done" }))
    assert.isTrue(mayVote({ votes: "bob@example.com approve 2026-01-01T00:00:00.000Z" }))
    assert.isFalse(mayVote({ votes: "ada@example.com approve 2026-01-01T00:00:00.000Z" }))
  })
})

describe("a request as its caller sees it", () => {
  it("has what its row has, and nothing for what is null", () => {
    const bare = {
      id,
      kind: "change",
      state: "pending",
      project: "webshop",
      env: "prod",
      requester: "bob@example.com",
      needed: 1,
      votes: [],
      may_vote: true,
      is_own: false,
      created_at: "2026-01-01T00:00:00.000Z",
      expires_at: "1970-01-01T00:00:00.000Z"
    }
    assert.deepStrictEqual<unknown>(requestOf(person(), "admin", row()), bare)
    const full = row({
      reason: "INC-12",
      call: "secrets.set",
      details: '["a detail"]',
      keys: '[{"key":"DB_URL","change":"updated","version":3,"id":"x","from":"y"}]',
      permission: "read",
      expires_in: 60,
      rule_id: RuleId.make(id),
      revision: 7,
      outdated: '["DB_URL would be changed too"]',
      decided_at: "2026-01-02T00:00:00.000Z"
    })
    assert.deepStrictEqual<unknown>(requestOf(person(), "admin", full), {
      ...bare,
      reason: "INC-12",
      call: "secrets.set",
      details: ["a detail"],
      keys: [{ key: "DB_URL", change: "updated", version: 3 }],
      permission: "read",
      expires_in: 60,
      rule_id: id,
      revision: 7,
      outdated: ["DB_URL would be changed too"],
      decided_at: "2026-01-02T00:00:00.000Z"
    })
  })

  it("has its votes by time, with their comments", () => {
    const votes = [
      "bob@example.com refuse 2026-01-03T00:00:00.000Z not before the release",
      "eve@example.com approve 2026-01-02T00:00:00.000Z",
      "joe@example.com approve 2026-01-04T00:00:00.000Z fine"
    ].join("\n")
    assert.deepStrictEqual<unknown>(requestOf(person(), "admin", row({ votes })).votes, [
      { by: "eve@example.com", vote: "approve", created_at: "2026-01-02T00:00:00.000Z" },
      {
        by: "bob@example.com",
        vote: "refuse",
        comment: "not before the release",
        created_at: "2026-01-03T00:00:00.000Z"
      },
      { by: "joe@example.com", vote: "approve", comment: "fine", created_at: "2026-01-04T00:00:00.000Z" }
    ])
  })

  it("reads columns of JSON: what is not as this program writes it is left out", () => {
    const good = { key: "DB_URL", change: "updated", version: 3, id: "x", from: "y" }
    for (const [stored, read] of [
      [null, []],
      ["{}", []],
      ["null", []],
      [JSON.stringify([good]), [good]],
      [JSON.stringify([1, null, {}, { key: 1 }, { key: ["A"] }, { key: "no key" }, good]), [good]],
      ['[{"key":"A"}]', [{ key: "A", change: "", version: 0 }]],
      ['[{"key":"A","change":1,"version":"1","id":1,"from":1}]', [{ key: "A", change: "", version: 0 }]]
    ] as const) {
      assert.deepStrictEqual<unknown>(affectedIn(stored), read, String(stored))
    }
    assert.deepStrictEqual(textsIn('["a",1,"b"]'), ["a", "b"])
    assert.deepStrictEqual(textsIn('{"a":"b"}'), [])
  })
})

const affected = (name: string, changes: Partial<AffectedKey> = {}): AffectedKey => ({
  key: key(name),
  change: "updated",
  version: 1,
  ...changes
})
const many = (count: number) => Array.from({ length: count }, (_none, index) => affected(`K${index}`))

describe("a mail to those who vote", () => {
  it("says what is asked for, and names at most 20 secrets", () => {
    assert.deepStrictEqual(factsOf(row({ permission: "read" })), { Access: "read" })
    assert.deepStrictEqual(factsOf(row({ call: "environments.delete" })), {
      Change: "delete the environment webshop/prod"
    })
    assert.deepStrictEqual(factsOf(row()), { Change: "change secrets in webshop/prod" })
    const names = (count: number) => factsOf(row({ call: "secrets.set", keys: JSON.stringify(many(count)) }))
    assert.deepStrictEqual(names(1), { Change: "set 1 secret in webshop/prod", Secrets: "K0" })
    const twenty = many(20)
      .map(({ key }) => key)
      .join(", ")
    assert.strictEqual(names(20)["Secrets"], twenty)
    assert.strictEqual(names(23)["Secrets"], `${twenty} and 3 more`)
  })
})

describe("a request is outdated", () => {
  for (const [name, asked, now, found] of [
    ["never by the same change", [affected("A")], [affected("A")], []],
    ["if a key is not changed any more", [affected("A")], [], ["A is not changed any more"]],
    ["if another key would be changed", [], [affected("A")], ["A would be changed too"]],
    [
      "if the version is another",
      [affected("A"), affected("B", { version: 0 })],
      [affected("A", { version: 2 }), affected("B", { version: 3 })],
      ["A is at version 2, and was at version 1", "B is at version 3, and did not exist"]
    ],
    [
      "if the secret is another",
      [affected("A", { id: "x" })],
      [affected("A", { id: "y" })],
      ["A was removed and set again"]
    ],
    ["never by the same secret", [affected("A", { id: "x" })], [affected("A", { id: "x" })], []],
    ["never by the id that an earlier server did not store", [affected("A")], [affected("A", { id: "y" })], []],
    [
      "if the value comes from another",
      [affected("A", { from: "x" })],
      [affected("A", { from: "y" })],
      ["the value that A would get has changed"]
    ],
    [
      "if something else happens to the key",
      [affected("A")],
      [affected("A", { change: "deleted" })],
      ["A would be deleted, and was to be updated"]
    ]
  ] as const) {
    it(name, () => {
      assert.deepStrictEqual(differences(asked, now), found)
    })
  }

  it("by many differences: the first 20 are named", () => {
    const changed = many(25).map(({ key }) => `${key} is not changed any more`)
    assert.deepStrictEqual(differences(many(20), []), changed.slice(0, 20))
    assert.deepStrictEqual(differences(many(25), []), [...changed.slice(0, 20), "and 5 more keys"])
  })
})
