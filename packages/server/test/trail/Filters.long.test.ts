import type { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { EnvName, ProjectName, SecretKey, ServiceAccountName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import type { PageRequest } from "@coffer/server/edges/trail/Trail"
import { Members } from "@coffer/server/directory/members/Members"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import fc from "fast-check"
import { hasty, holds, onDamaged, onEverything } from "../model/Support.js"
import { isOnPostgres, orgPath, person, transaction } from "../support/Services.js"
import { activity, by, list, listAll, type Log, newOrganization, read, verify, write } from "./Support.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

const start = Date.UTC(2026, 0, 31, 8)
const moment = (millis: number) => new Date(millis).toISOString()

const happening = fc.record({
  actor: fc.constantFrom("ada", "bob"),
  action: fc.constantFrom("secret.set", "secret.read", "env.create"),
  resource_type: fc.constantFrom("secret", "env"),
  nameless: fc.boolean(),
  minutes: fc.integer({ min: -2, max: 3 }),
  metadata: fc.record(
    {
      project: fc.constantFrom("web", "api"),
      env: fc.constantFrom("prod", "dev"),
      key: fc.constantFrom("A", "B"),
      keys: fc.subarray(["A", "B", "C"], { minLength: 1 }).map((keys) => keys.map((key) => ({ key, version: 1 })))
    },
    { requiredKeys: [] }
  )
})

const request = fc.record(
  {
    actor: fc.constantFrom("ada", "ada@example.com", "Bob@Example.com"),
    action: fc.constantFrom("secret.set", "secret.read"),
    resource_type: fc.constantFrom("secret", "env"),
    project: fc.constantFrom("web", "api", "never"),
    env: fc.constantFrom("prod", "dev"),
    key: fc.constantFrom("A", "B", "C", "NEVER"),
    since: fc.integer({ min: -1, max: 12 }),
    until: fc.integer({ min: -1, max: 12 })
  },
  { requiredKeys: [] }
)

type Wanted = Parameters<Parameters<typeof request.map>[0]>[0]

const requestOf = ({ env, key, project, since, until, ...rest }: Wanted): PageRequest => ({
  ...rest,
  ...(project !== undefined && { project: ProjectName.make(project) }),
  ...(env !== undefined && { env: EnvName.make(env) }),
  ...(key !== undefined && { key: SecretKey.make(key) }),
  ...(since !== undefined && { since: moment(start + since * 60_000) }),
  ...(until !== undefined && { until: moment(start + until * 60_000) })
})

const keysOf = ({ metadata }: AuditEntry): ReadonlyArray<unknown> => [
  metadata.key,
  ...((metadata.keys ?? []) as ReadonlyArray<{ key: string }>).map(({ key }) => key)
]

/** Checks whether an entry matches a request. An actor without an id does nothing at a place. */
const fits =
  ({ action, actor, env, key, project, resource_type, since, until }: PageRequest) =>
  (entry: AuditEntry): boolean => {
    const isAtPlace = project !== undefined || env !== undefined || key !== undefined
    const isActor =
      actor === undefined ||
      entry.actor_id === actor ||
      (entry.actor_name === actor.toLowerCase() && (entry.actor_id !== null || !isAtPlace))
    return (
      isActor &&
      (action === undefined || entry.action === action) &&
      (resource_type === undefined || entry.resource_type === resource_type) &&
      (project === undefined || entry.metadata.project === project) &&
      (env === undefined || entry.metadata.env === env) &&
      (key === undefined || keysOf(entry).includes(key)) &&
      (since === undefined || entry.created_at >= since) &&
      (until === undefined || entry.created_at < until)
    )
  }

const walk = <E, R>(
  page: (request: PageRequest) => Effect.Effect<Effect.Effect.Success<ReturnType<typeof list>>, E, R>,
  request: PageRequest
) =>
  Effect.gen(function* () {
    const found: Array<AuditEntry> = []
    let after: string | null = null
    do {
      const { data, pagination }: Effect.Effect.Success<ReturnType<typeof list>> = yield* page({
        ...request,
        ...(after !== null && { after })
      })
      found.push(...data)
      assert.isUndefined(pagination.at_least)
      after = pagination.next_cursor
    } while (after !== null)
    return found
  })

const refusal = (log: Log, request: PageRequest) =>
  Effect.map(Effect.flip(list(log, request)), (error) => [error._tag, error.message])

describe("the filters of the audit log", () => {
  it.effect(
    "find exactly what fits, in one log and in all, page by page, and total is its count",
    () =>
      Effect.gen(function* () {
        yield* hasty
        let begun = 0
        yield* holds(
          fc.record({
            happenings: fc.array(happening, { maxLength: 20 }),
            wanted: request,
            limit: fc.integer({ min: 1, max: 5 })
          }),
          ({ happenings, limit, wanted }) =>
            Effect.gen(function* () {
              let time = start
              yield* TestClock.setTime(time)
              const acme = yield* newOrganization(`acme-${++begun}`)
              const other = yield* newOrganization(`other-${begun}`)
              // Everybody who may be asked for has done something.
              for (const actor of ["ada", "bob"]) yield* write(acme.id, { actor })
              for (const [n, { minutes, ...one }] of happenings.entries()) {
                // The clock goes back at times.
                time = Math.max(start, time + minutes * 60_000)
                yield* TestClock.setTime(time)
                if (n % 3 === 0) yield* read(acme.id, one)
                else yield* write(n % 3 === 1 ? acme.id : other.id, one)
                yield* (yield* AuditLog).flush
              }
              const request = requestOf(wanted)
              const everything = yield* walk((page) => list(acme, page), { limit: 100 })
              const expected = everything.filter(fits(request))
              const told = JSON.stringify(wanted)
              assert.deepStrictEqual(yield* walk((page) => list(acme, page), { ...request, limit }), expected, told)
              assert.strictEqual((yield* list(acme, request)).pagination.total, expected.length, told)
              const { since: _since, until: _until, ...names } = request
              const counted = yield* activity(acme, { ...names, until: moment(start + 86_400_000) })
              assert.isTrue(counted.complete)
              const fitting = everything.filter(fits(names))
              assert.strictEqual(counted.entries, fitting.length, told)
              for (const actor of new Set(everything.map(({ actor_name }) => actor_name))) {
                const { length } = fitting.filter(({ actor_name }) => actor_name === actor)
                assert.strictEqual(counted.actors.find(({ name }) => name === actor)?.entries ?? 0, length, told)
              }
              const all = (yield* walk((page) => listAll(page), { limit: 100 })).filter(fits(request))
              assert.deepStrictEqual(yield* walk((page) => listAll(page), { ...request, limit: 20 }), all, told)
              assert.strictEqual((yield* listAll(request)).pagination.total, all.length, told)
              assert.isTrue((yield* verify(acme)).valid)
            }),
          { numRuns: runs(isOnPostgres() ? 10 : 25) }
        )
      }).pipe(onEverything),
    isSoak ? 600_000 : 300_000
  )

  it.effect("name the nearest action, kind of thing or actor when nothing has the given name", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const other = yield* newOrganization("other", "grace@example.com")
      yield* write(acme.id, { actor: "bob" })
      assert.deepStrictEqual(yield* refusal(acme, { action: "secret.raed" }), [
        "ValidationError",
        "action: there is no action secret.raed: did you mean secret.read?"
      ])
      assert.deepStrictEqual(yield* refusal(acme, { resource_type: "secrets" }), [
        "ValidationError",
        "resource_type: there is no resource type secrets: did you mean secret?"
      ])
      assert.deepStrictEqual(yield* refusal(acme, { actor: "bop@example.com" }), [
        "ValidationError",
        "actor: no actor has this id or name: did you mean bob@example.com?"
      ])
      // An actor who is only in another organization's log is neither named nor found.
      for (const actor of ["grace@example.com", "grade@example.com", other.actor.id]) {
        const [code, message = ""] = yield* refusal(acme, { actor })
        assert.strictEqual(code, "ValidationError")
        assert.notInclude(message, "grace")
      }
      assert.strictEqual((yield* listAll({ actor: "grace@example.com" })).pagination.total, 1)
    }).pipe(onEverything)
  )

  it.effect("of an actor who has done nothing yet find nothing, and only those who could have are known", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const other = yield* newOrganization("other", "grace@example.com")
      const access = yield* Access
      const members = yield* Members
      const accounts = yield* ServiceAccounts
      const invites = yield* access.org(orgPath("acme"), "member.invite").pipe(by(acme.actor))
      for (const email of ["bob@example.com", "gone@example.com"]) {
        yield* transaction(members.invite(invites, (yield* person(email)).email, "developer"))
      }
      const gone = yield* person("gone@example.com")
      yield* transaction(
        members.remove(yield* access.org(orgPath("acme"), "member.remove").pipe(by(acme.actor)), gone.id)
      )
      const creates = yield* access.org(orgPath("acme"), "service_account.create").pipe(by(acme.actor))
      const made = yield* transaction(
        accounts.create(creates, { name: ServiceAccountName.make("deploy-bot"), reveal: true })
      )
      const bob = yield* person("bob@example.com")
      for (const actor of ["Bob@example.com", bob.id, "gone@example.com", "deploy-bot", made.id]) {
        for (const page of [
          yield* list(acme, { actor }),
          yield* listAll({ actor }),
          yield* listAll({ actor }, acme.id)
        ]) {
          assert.deepStrictEqual(
            page,
            {
              data: [],
              pagination: { total: 0, limit: 20, has_next: false, next_cursor: null }
            },
            actor
          )
        }
        assert.strictEqual(
          (yield* list(acme, { actor, action: "secret.read", since: moment(start) })).pagination.total,
          0
        )
        // Whoever reads another organization's log does not learn of them.
        const [code, message = ""] = yield* refusal(other, { actor })
        assert.strictEqual(code, "ValidationError")
        assert.notMatch(message, /bob@|gone@|deploy-bot/)
      }
      assert.match((yield* refusal(acme, { actor: "bop@example.com" }))[1] ?? "", /did you mean bob@example\.com\?$/)
      assert.match((yield* refusal(acme, { actor: "deploybot" }))[1] ?? "", /did you mean deploy-bot\?$/)
      assert.strictEqual((yield* refusal(acme, { actor: "grace@example.com" }))[0], "ValidationError")
      yield* write(acme.id, { actor: "bob" })
    }).pipe(onEverything)
  )

  it.effect("find a failed login of an address that nobody has", () =>
    Effect.gen(function* () {
      yield* write(null, { actor: "eve", nameless: true, action: "auth.verify_failed", resource_type: "user" })
      yield* write(null, { actor: "bob", nameless: true, action: "auth.verify_failed", resource_type: "user" })
      yield* write(null, { actor: "eve", action: "auth.verify", resource_type: "session" })
      const found = yield* listAll({ actor: "eve@example.com" })
      assert.deepStrictEqual(
        found.data.map(({ action }) => action),
        ["auth.verify", "auth.verify_failed"]
      )
      assert.strictEqual(found.pagination.total, 2)
    }).pipe(onEverything)
  )

  it.effect("count 10,000 entries of a range of time, and say that there are more", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      yield* write(acme.id, {}, ...Array.from({ length: 10_000 }, () => ({})))
      const since = "1970-01-01"
      const counted = yield* list(acme, { since, action: "secret.set" })
      assert.deepInclude(counted.pagination, { total: 10_000, at_least: true })
      assert.strictEqual((yield* list(acme, { since })).pagination.total, 10_002, "a whole log is not counted")
      assert.strictEqual((yield* list(acme, { action: "secret.set" })).pagination.total, 10_001)
    }).pipe(onEverything)
  )

  const damages: Readonly<Record<string, string>> = {
    "a posting removed": "DELETE FROM audit_postings WHERE position = 4",
    "a posting moved to another place": `UPDATE audit_postings SET run = (SELECT k.id FROM audit_place_counters k JOIN audit_places p ON p.id = k.place WHERE p.env = 'dev' AND p.keys = '')
        WHERE position = 4 AND run IN (SELECT k.id FROM audit_place_counters k JOIN audit_places p ON p.id = k.place WHERE p.keys = '' AND p.env <> '')`,
    "a posting of the whole log removed":
      "DELETE FROM audit_postings WHERE position = 4 AND run IN (SELECT id FROM audit_place_counters WHERE actor_id = '')",
    "a place renamed": "UPDATE audit_places SET env = 'staging' WHERE keys = 'A' AND env = 'prod'",
    "a key taken out of a set": "DELETE FROM audit_place_keys WHERE key = 'B'",
    "an actor renamed": "UPDATE audit_actors SET actor_name = 'eve@example.com' WHERE actor_name = 'bob@example.com'",
    "a time narrowed": "UPDATE audit_times SET newest = oldest"
  }
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`are verified: ${what} is found`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(start)
        const acme = yield* newOrganization("acme")
        yield* TestClock.adjust("1 minute")
        const at = { project: "web", env: "prod" }
        yield* write(acme.id, { actor: "bob", metadata: { ...at, env: "dev", key: "A" } })
        yield* write(acme.id, { actor: "bob", metadata: { ...at, keys: [{ key: "A" }, { key: "B" }] } })
        yield* write(acme.id, { actor: "bob", metadata: { ...at, key: "A" } })
        assert.isTrue((yield* verify(acme)).valid)
        const sql = yield* SqlClient.SqlClient
        assert.isNotEmpty(yield* sql.unsafe(`${damage} RETURNING 1`))
        assert.isFalse((yield* verify(acme)).valid)
      }).pipe(onDamaged)
    )
  }
})
