import { assert, describe, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { driver, people } from "./Driver.js"
import type { Account, Org, User } from "./Model.js"
import { onEverything, status } from "./Support.js"

const rounds = 10
const at = { org: "acme", project: "web", env: "prod" }

/** Starts calls together and answers how each ended. */
const together = <R>(...calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, R>>) =>
  Effect.all(
    calls.map((call) => Effect.map(status(call), ({ status }) => status)),
    { concurrency: "unbounded" }
  )

/** An organization of user 0, with a project; and what the database says of it. */
const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const persons = yield* people(4)
  const service = yield* driver(persons)
  const users = persons.map((_, n): User => ({ type: "user", n, superadmin: false })) as [User, User, User, User]
  yield* service.createOrg(users[0], "acme")
  yield* service.createProject(users[0], "acme", "web")
  const members = sql<{ email: string; role: string }>`
    SELECT u.email, m.role FROM members m JOIN users u ON u.id = m.user_id WHERE m.removed_at IS NULL ORDER BY u.email`
  const rules = sql<{ subject_id: string; permission: string }>`
    SELECT subject_id, permission FROM acl_rules WHERE removed_at IS NULL`
  return { sql, service, users, persons, members, rules }
})

const repeated = <E, R>(round: (n: number) => Effect.Effect<void, E, R>) =>
  Effect.forEach(
    Array.from({ length: rounds }, (_, n) => n),
    round,
    { discard: true }
  )

describe("calls at the same time", () => {
  it.live("cannot demote the last two owners both, nor remove them both", () =>
    Effect.gen(function* () {
      const { members, service, users } = yield* scene
      const [ada, bob] = users
      yield* service.invite(ada, "acme", bob, "owner")
      yield* repeated((n) =>
        Effect.gen(function* () {
          const ended = yield* n % 2 === 0
            ? together(service.setRole(ada, "acme", ada, "member"), service.setRole(bob, "acme", bob, "member"))
            : together(service.removeMember(ada, "acme", ada), service.removeMember(bob, "acme", bob))
          assert.deepStrictEqual(ended.toSorted(), [200, 409])
          const all = yield* members
          assert.strictEqual(all.filter(({ role }) => role === "owner").length, 1)
          const stayed = all.find(({ role }) => role === "owner")!.email.startsWith("user-0") ? ada : bob
          const other = stayed === ada ? bob : ada
          yield* n % 2 === 0
            ? service.setRole(stayed, "acme", other, "owner")
            : service.invite(stayed, "acme", other, "owner")
        })
      )
    }).pipe(onEverything)
  )

  it.live("cannot demote two owners across each other and leave no owner", () =>
    Effect.gen(function* () {
      const { members, service, users } = yield* scene
      const [ada, bob] = users
      yield* service.invite(ada, "acme", bob, "owner")
      yield* together(service.setRole(ada, "acme", bob, "member"), service.setRole(bob, "acme", ada, "member"))
      assert.strictEqual((yield* members).filter(({ role }) => role === "owner").length, 1)
    }).pipe(onEverything)
  )

  it.live("that invite and remove one person end as if one had come after the other", () =>
    Effect.gen(function* () {
      const { members, service, users } = yield* scene
      const [ada, bob] = users
      const seen = new Set<string>()
      yield* repeated((n) =>
        Effect.gen(function* () {
          const there = (yield* members).length === 2
          const calls = [service.invite(ada, "acme", bob, "developer"), service.removeMember(ada, "acme", bob)] as const
          const ended = n % 2 === 0 ? yield* together(...calls) : (yield* together(calls[1], calls[0])).toReversed()
          const isThere = (yield* members).length === 2
          const outcome = `${there}: ${ended.join(" ")}: ${isThere}`
          seen.add(outcome)
          // Invited first, then removed; or removed first, then invited.
          const serial = there
            ? ["true: 409 200: false", "true: 200 200: true"]
            : ["false: 200 200: false", "false: 200 404: true"]
          assert.include(serial, outcome)
        })
      )
      assert.isAbove(seen.size, 1)
    }).pipe(onEverything)
  )

  it.live("that invite one person twice make one member", () =>
    Effect.gen(function* () {
      const { members, service, users } = yield* scene
      const [ada, bob] = users
      const ended = yield* together(
        service.invite(ada, "acme", bob, "developer"),
        service.invite(ada, "acme", bob, "admin"),
        service.invite(ada, "acme", bob, "member")
      )
      assert.deepStrictEqual(ended.toSorted(), [200, 409, 409])
      assert.strictEqual((yield* members).length, 2)
    }).pipe(onEverything)
  )

  it.live("that grant the same subject and patterns make one rule, with the permission of one of them", () =>
    Effect.gen(function* () {
      const { rules, service, users } = yield* scene
      const [ada, bob] = users
      yield* service.invite(ada, "acme", bob, "developer")
      yield* repeated((n) =>
        Effect.gen(function* () {
          const request = { subject: bob, project: `p${n}*`, env: "*" }
          const granted = yield* Effect.all(
            (["read", "write", "admin"] as const).map((level) => service.grant(ada, "acme", { ...request, level })),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(granted.filter(({ created }) => created).length, 1)
          assert.strictEqual(new Set(granted.map(({ rule }) => rule.id)).size, 1)
          const found = yield* rules
          assert.strictEqual(found.length, n + 1)
          assert.isTrue(found.every(({ permission }) => ["read", "write", "admin"].includes(permission)))
        })
      )
    }).pipe(onEverything)
  )

  it.live("that grant to a member and remove it leave no rule behind", () =>
    Effect.gen(function* () {
      const { rules, service, users } = yield* scene
      const [ada, bob] = users
      yield* repeated((n) =>
        Effect.gen(function* () {
          yield* service.invite(ada, "acme", bob, "developer")
          const grant = service.grant(ada, "acme", { subject: bob, project: "*", env: "*", level: "write" })
          const remove = service.removeMember(ada, "acme", bob)
          const [granted, removed] =
            n % 2 === 0 ? yield* together(grant, remove) : (yield* together(remove, grant)).toReversed()
          assert.strictEqual(removed, 200)
          assert.include([200, 404], granted)
          assert.deepStrictEqual(yield* rules, [])
          yield* service.invite(ada, "acme", bob, "developer")
          assert.strictEqual((yield* status(service.listSecrets(bob, at))).status, 403)
          yield* service.removeMember(ada, "acme", bob)
        })
      )
    }).pipe(onEverything)
  )

  it.live("that grant to a machine and revoke it leave no rule behind", () =>
    Effect.gen(function* () {
      const { rules, service, users } = yield* scene
      const [ada] = users
      const org: Org = { name: "acme", alive: true, members: [], projects: [] }
      yield* repeated((n) =>
        Effect.gen(function* () {
          const machine: Account = { type: "account", org, name: `ci-${n}`, project: null, reveal: true, alive: true }
          const key = { account: machine, good: true }
          const made = yield* service.createAccount(ada, "acme", {
            name: machine.name,
            project: undefined,
            reveal: true
          })
          service.keepAccount(machine, key, made)
          const grant = service.grant(ada, "acme", { subject: machine, project: "*", env: "*", level: "read" })
          const revoke = service.revokeAccount(ada, "acme", machine)
          const ended = yield* together(...(n % 2 === 0 ? [grant, revoke] : [revoke, grant]))
          assert.include(["200 200", "200 404"], ended.toSorted().join(" "))
          assert.deepStrictEqual(yield* rules, [])
          assert.strictEqual((yield* status(service.listSecrets(key, at))).status, 401)
        })
      )
    }).pipe(onEverything)
  )

  it.live("that rotate one machine's key leave one good key", () =>
    Effect.gen(function* () {
      const { service, sql, users } = yield* scene
      const [ada] = users
      const org: Org = { name: "acme", alive: true, members: [], projects: [] }
      const machine: Account = { type: "account", org, name: "ci", project: null, reveal: true, alive: true }
      const first = { account: machine, good: true }
      service.keepAccount(
        machine,
        first,
        yield* service.createAccount(ada, "acme", { name: "ci", project: undefined, reveal: true })
      )
      const made = yield* Effect.all(
        Array.from({ length: 5 }, () => service.rotate(ada, "acme", machine, false)),
        { concurrency: "unbounded" }
      )
      const keys = [first, ...made.map(() => ({ account: machine, good: true }))]
      made.forEach((one, index) => service.keepKey(keys[index + 1]!, one))
      yield* Effect.sleep("2 millis")
      const ended = yield* Effect.forEach(keys, (key) => status(service.listProjects(key, "acme")))
      assert.deepStrictEqual(ended.map(({ status }) => status).toSorted(), [200, 401, 401, 401, 401, 401])
      const current = yield* sql`SELECT id FROM api_keys WHERE replaced_at IS NULL AND removed_at IS NULL`
      assert.strictEqual(current.length, 1)
    }).pipe(onEverything)
  )
})
