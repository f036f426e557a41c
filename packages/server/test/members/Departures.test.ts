import { RequestId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { type Actor, CurrentCaller } from "@coffer/domain/access/Actor"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Access } from "@coffer/server/access/Access"
import { Database } from "@coffer/server/database/Database"
import { endedAtOnce, inSteps } from "@coffer/server/database/InSteps"
import { fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { departurePurge, makeDepartures } from "@coffer/server/directory/members/Departures"
import { Members } from "@coffer/server/directory/members/Members"
import { Requests } from "@coffer/server/directory/requests/Requests"
import { Votes } from "@coffer/server/directory/requests/Votes"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { UserDirectory } from "@coffer/server/directory/users/UserDirectory"
import { UseRules } from "@coffer/server/secrets/use-rules/UseRules"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Layer, Redacted } from "effect"
import {
  account,
  asActor,
  email,
  entries,
  envPath,
  key,
  member,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  setSecret,
  transaction,
  uuid
} from "../support/Services.js"

const grace = "grace@example.com"
const many = 2 * endedAtOnce + 50

const run = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(
    Effect.provide(
      Layer.mergeAll(
        Members.Default,
        ServiceAccounts.Default,
        UseRules.Default,
        Votes.Default,
        Requests.Default,
        UserDirectory.Default
      )
    ),
    onDatabase({ SUPERADMIN_EMAIL_0: "root@example.com" })
  )

const owner = person("ada@example.com")

const at = "2026-01-01T00:00:00.000Z"

/** An organization with a secret. */
const acme = Effect.tap(organization(), (ada) => setSecret(ada, "KEY", "value"))

/** Makes many use rules of one secret that name subjects, as an organization with many environments has them. */
const rulesFor = (subjects: ReadonlyArray<string>, count = many) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [org] = yield* sql<{ id: string }>`SELECT id FROM organizations WHERE name = 'acme'`
    const [secret] = yield* sql<{ id: string }>`SELECT id FROM secrets`
    const [org_id, secret_id] = [org?.id ?? "", secret?.id ?? ""]
    const terms = JSON.stringify({
      ...{ hosts: ["api.test"], methods: ["GET"], paths: ["/*"], place: { in: "query", name: "key" }, accounts: [] },
      ...{ response: "status", max_kib: 1, approval: "none", per_minute: 1, per_day: 1, expires_at: null }
    })
    const rules = Array.makeBy(count, () => ({
      ...{ id: uuid(), secret_id, terms, per_minute: 1, per_day: 1, minute_at: 0, minute_count: 0, day_at: 0 },
      ...{ day_count: 0, created_by: "ada@example.com", created_at: at, updated_at: at }
    }))
    yield* sql`INSERT INTO use_rules ${sql.insert(rules)}`
    const accounts = rules.flatMap(({ id: rule_id }) =>
      subjects.map((subject_id, position) => ({ rule_id, position, org_id, subject_id }))
    )
    yield* sql`INSERT INTO use_rule_accounts ${sql.insert(accounts)}`
  })

/** Makes many requests for access that wait, for which a person has voted, and returns their ids. */
const votesOf = (voter: Actor, count = many) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [env] = yield* sql<{ id: string; org_id: string }>`
      SELECT e.id AS id, p.org_id AS org_id FROM environments e JOIN projects p ON p.id = e.project_id
      WHERE e.name = 'prod'`
    const bob = yield* member("bob@example.com", "developer")
    const requests = Array.makeBy(count, () => ({
      ...{ id: uuid(), org_id: env?.org_id ?? "", env_id: env?.id ?? "", kind: "access", state: "pending" },
      ...{ actor_type: "user", actor_id: bob.id, actor_name: "bob@example.com", permission: "read", expires_in: 3_600 },
      ...{ protection_version: 0, needed: 2, bytes: 0, created_at: at, expires_at: Date.now() * 2 }
    }))
    yield* sql`INSERT INTO requests ${sql.insert(requests)}`
    const vote = { user_id: voter.id, email: grace, vote: "approve", created_at: at }
    yield* sql`INSERT INTO request_votes ${sql.insert(requests.map(({ id }) => ({ request_id: id, ...vote })))}`
    return requests.map(({ id }) => RequestId.make(id))
  })

const usesLeft = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`SELECT rule_id FROM use_rule_accounts WHERE subject_id = ${id}`, ({ length }) => length)
  )
const votesLeft = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ id: string }>`SELECT request_id AS id FROM request_votes WHERE user_id = ${id}`, (rows) =>
      rows.map((row) => row.id)
    )
  )

/** The subjects that use rules name, as people see them. */
const named = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "use_rule.list")).pipe(
    asActor(yield* owner)
  )
  return Array.dedupe((yield* (yield* UseRules).list(place, key("KEY"))).flatMap(({ accounts }) => accounts))
})

const removal = (id: string, by?: Actor) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "member.remove")).pipe(
      asActor(by ?? (yield* owner))
    )
    return yield* transaction((yield* Members).remove(place, UserId.make(id)))
  })

const leaving = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "member.leave")).pipe(asActor(actor))
    return yield* transaction((yield* Members).leave(place))
  })

const revocation = (id: string) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "service_account.revoke")).pipe(
      asActor(yield* owner)
    )
    return yield* transaction((yield* ServiceAccounts).revoke(place, ServiceAccountId.make(id)))
  })

const invitation = Effect.gen(function* () {
  const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "member.invite")).pipe(
    asActor(yield* owner)
  )
  return transaction((yield* Members).invite(place, email(grace), "admin"))
})

const maintenance = Effect.flatMap(Effect.all([departurePurge, Database]), ([{ run }, database]) =>
  run(fencedByNothing(database))
)

/** Votes with a session: each vote reads its credential again. */
const voteOf = ({ id: userId }: Actor, id: RequestId) =>
  Effect.gen(function* () {
    const started = yield* transaction((yield* Sessions).start({ id: UserId.make(userId), ended: 0, provenAt: null }))
    const token = Redacted.value(started?.token ?? assert.fail("no session"))
    const caller = yield* (yield* Authenticator).identify(Headers.fromInput({ authorization: `Bearer ${token}` }))
    return yield* Effect.provideService((yield* Votes).approve({ ...orgPath(), request_id: id }), CurrentCaller, caller)
  })

const shown = (id: RequestId) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "request.list")).pipe(
      asActor(yield* owner)
    )
    return (yield* (yield* Requests).shown(place, id)).request
  })

describe("a member in more use rules than one transaction ends", () => {
  for (const [way, end] of [
    ["is removed", (actor: Actor) => removal(actor.id)],
    ["leaves", leaving]
  ] as const) {
    it.effect(`${way}: no rule is for them from the first transaction on, and the rest of the rows ends after it`, () =>
      Effect.gen(function* () {
        yield* acme
        const gone = yield* member(grace, "admin")
        const bot = yield* account("bot")
        yield* rulesFor([gone.id, bot.id])
        const departure = yield* end(gone)
        assert.isTrue(departure.hasMore)
        assert.strictEqual(yield* usesLeft(gone.id), many - endedAtOnce)
        assert.deepStrictEqual(yield* named, ["bot"])
        yield* (yield* makeDepartures).endRest(departure)
        assert.strictEqual(yield* usesLeft(gone.id), 0)
        assert.strictEqual(yield* usesLeft(bot.id), many)
      }).pipe(run)
    )
  }

  it.effect("is removed, and the server killed then: an invitation ends the rest first, and revives nothing", () =>
    Effect.gen(function* () {
      yield* acme
      const gone = yield* member(grace, "admin")
      yield* rulesFor([gone.id])
      yield* removal(gone.id)
      const invite = yield* invitation
      assert.deepStrictEqual(yield* invite, { hasMore: true, member: null })
      assert.strictEqual(yield* usesLeft(gone.id), many - 2 * endedAtOnce)
      assert.strictEqual((yield* inSteps(invite)).member.email, grace)
      assert.strictEqual(yield* usesLeft(gone.id), 0)
      assert.deepStrictEqual(yield* named, [])
      const invited = (yield* entries()).filter(({ action }) => action === "org.member_invite")
      assert.lengthOf(invited, 1)
    }).pipe(run)
  )

  it.effect("keeps all of them if the removal is refused", () =>
    Effect.gen(function* () {
      const ada = yield* acme
      const admin = yield* member(grace, "admin")
      yield* rulesFor([ada.id])
      const asked = yield* votesOf(ada)
      assert.strictEqual(yield* outcome(removal(ada.id, admin)), "Forbidden", "an owner, by an admin")
      assert.strictEqual(yield* outcome(removal(ada.id)), "LastOwner")
      assert.strictEqual(yield* outcome(leaving(ada)), "LastOwner")
      assert.strictEqual(yield* usesLeft(ada.id), many)
      assert.lengthOf(yield* votesLeft(ada.id), asked.length)
    }).pipe(run)
  )

  it.effect("keeps all of them when invited again as a member", () =>
    Effect.gen(function* () {
      yield* acme
      const gone = yield* member(grace, "admin")
      yield* rulesFor([gone.id], 2)
      assert.strictEqual(yield* outcome(yield* invitation), "Conflict")
      assert.strictEqual(yield* usesLeft(gone.id), 2)
      assert.deepStrictEqual(yield* named, [grace])
    }).pipe(run)
  )
})

describe("a service account in more use rules than one transaction ends", () => {
  it.effect("is revoked: a new one of its name does not inherit those that are left", () =>
    Effect.gen(function* () {
      yield* acme
      const bot = yield* account("bot")
      yield* rulesFor([bot.id])
      const departure = yield* revocation(bot.id)
      assert.isTrue(departure.hasMore)
      assert.strictEqual(yield* usesLeft(bot.id), many - endedAtOnce)
      yield* account("bot")
      assert.deepStrictEqual(yield* named, [])
      yield* (yield* makeDepartures).endRest(departure)
      assert.strictEqual(yield* usesLeft(bot.id), 0)
    }).pipe(run)
  )
})

describe("maintenance", () => {
  it.effect("ends the places in use rules that removals left, and no others", () =>
    Effect.gen(function* () {
      yield* acme
      const gone = yield* member(grace, "admin")
      const bots = yield* Effect.forEach(Array.range(1, 120), (number) => account(`bot ${number}`))
      const revoked = bots.slice(100)
      yield* rulesFor(
        bots.map(({ id }) => id),
        3
      )
      yield* rulesFor([gone.id])
      yield* removal(gone.id)
      const sql = yield* SqlClient.SqlClient
      for (const { id } of revoked) yield* sql`UPDATE service_accounts SET removed_at = ${at} WHERE id = ${id}`
      yield* maintenance
      assert.strictEqual(yield* usesLeft(gone.id), 0)
      for (const { id } of bots) assert.strictEqual(yield* usesLeft(id), revoked.some((one) => one.id === id) ? 0 : 3)
    }).pipe(run)
  )
})

describe("the votes of a person for more requests than one transaction ends", () => {
  it.effect("count for nothing from the removal on, are shown no more, and end after it", () =>
    Effect.gen(function* () {
      const ada = yield* acme
      const gone = yield* member(grace, "admin")
      yield* votesOf(gone)
      const departure = yield* removal(gone.id)
      assert.isTrue(departure.hasMore)
      const left = yield* votesLeft(gone.id)
      assert.lengthOf(left, many - endedAtOnce)
      const id = RequestId.make(left[0] ?? "")
      assert.deepStrictEqual((yield* shown(id)).votes, [])
      const { state, votes } = yield* voteOf(ada, id)
      assert.deepStrictEqual([state, votes.map(({ by }) => by)], ["pending", ["ada@example.com"]])
      yield* (yield* makeDepartures).endRest(departure)
      assert.lengthOf(yield* votesLeft(gone.id), 0)
    }).pipe(run)
  )

  it.effect("end with the account some at a time, and what is left ends before it is enabled", () =>
    Effect.gen(function* () {
      const ada = yield* acme
      const gone = yield* member(grace, "admin")
      yield* votesOf(gone)
      const users = yield* UserDirectory
      const root = yield* person("root@example.com", { superadmin: true })
      const serverPlace = yield* Effect.flatMap(Access, (access) => access.serverPlace("user.test")).pipe(asActor(root))
      const id = UserId.make(gone.id)
      assert.isTrue((yield* transaction(users.disable(serverPlace, id))).hasMore)
      const left = yield* votesLeft(gone.id)
      assert.lengthOf(left, many - endedAtOnce)
      const request = RequestId.make(left[0] ?? "")
      assert.deepStrictEqual((yield* shown(request)).votes, [])
      assert.strictEqual((yield* voteOf(ada, request)).state, "pending")
      const enabling = yield* transaction(users.enable(serverPlace, id))
      assert.isTrue(enabling.hasMore)
      assert.isString(enabling.user.disabled_at)
      assert.isNull((yield* inSteps(transaction(users.enable(serverPlace, id)))).user.disabled_at)
      assert.lengthOf(yield* votesLeft(gone.id), 0)
    }).pipe(run)
  )

  it.effect("stay where their request has ended: they are its history", () =>
    Effect.gen(function* () {
      yield* acme
      const gone = yield* member(grace, "admin")
      const [id] = yield* votesOf(gone, 2)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE requests SET state = 'refused' WHERE id = ${id ?? ""}`
      assert.isFalse((yield* removal(gone.id)).hasMore)
      assert.deepStrictEqual(yield* votesLeft(gone.id), [id ?? ""])
      assert.lengthOf((yield* shown(RequestId.make(id ?? ""))).votes, 1)
    }).pipe(run)
  )
})
