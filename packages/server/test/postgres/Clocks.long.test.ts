import { assert, describe, it } from "@effect/vitest"
import { type Clock, Effect, Layer } from "effect"
import { everythingOnPostgres } from "../model/Support.js"
import { PostgresErasuresLive } from "@coffer/server/database/postgres/PostgresErasures"
import { Database } from "@coffer/server/database/Database"
import { ruleExpiry } from "@coffer/server/directory/acl/RuleExpiry"
import { delegate, identified } from "../delegations/Support.js"
import { Delegations } from "@coffer/server/directory/delegations/Delegations"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { SqlClient } from "@effect/sql"
import { ApprovalId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { timestamp } from "@coffer/server/base/Time"
import { Approvals } from "@coffer/server/secrets/use/Approvals"
import { useRepo } from "@coffer/server/secrets/use-rules/Repo"
import {
  asActor,
  enter,
  entries,
  envPath,
  freshPath,
  grant,
  member,
  organization,
  orgPath,
  outcome,
  setSecret,
  transaction
} from "../support/Services.js"
import { freshDatabase } from "../support/postgres/Databases.js"
import { entriesOf, newOrganization, read, write } from "../trail/Support.js"
import { AuditLog } from "@coffer/server/audit/AuditLog"

const hour = 3_600_000

/** Runs an effect on a server whose clock is wrong. */
const ahead =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock) => {
      const wrong: Clock.Clock = Object.create(clock, {
        unsafeCurrentTimeMillis: { value: () => clock.unsafeCurrentTimeMillis() + millis },
        currentTimeMillis: { value: Effect.map(clock.currentTimeMillis, (time) => time + millis) }
      })
      return Effect.withClock(effect, wrong)
    })

describe("the times of audit entries", () => {
  it.scopedLive("are the database's, and never go back in a log, whatever the clocks of two servers say", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const fast = Effect.provide(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const slow = Effect.provide(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const start = Date.now()
      const { id } = yield* newOrganization("acme").pipe(fast, ahead(hour))
      for (let round = 0; round < 2; round++) {
        yield* Effect.zipRight(write(id), read(id)).pipe(
          Effect.zipRight(Effect.flatMap(AuditLog, (log) => log.flush)),
          slow,
          ahead(-hour)
        )
        yield* write(id).pipe(fast, ahead(hour))
      }
      const times = (yield* slow(entriesOf(id))).map(({ created_at }) => created_at)
      assert.lengthOf(times, 7)
      assert.deepStrictEqual(times, times.toSorted())
      for (const time of times) {
        assert.isAtLeast(Date.parse(time), start - 1)
        assert.isAtMost(Date.parse(time), Date.now())
      }
    })
  )
})

describe("the end of an access rule", () => {
  it.scopedLive("is by the database's clock, whatever those of two servers say, and is recorded once", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const one = yield* Layer.build(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const other = yield* Layer.build(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const fast = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(hour)(Effect.provide(effect, one))
      const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(-hour)(Effect.provide(effect, other))
      const bob = yield* Effect.gen(function* () {
        yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        yield* grant(bob, "read", { ends: Date.now() + 1_500 })
        for (let n = 0; n < 20; n++) yield* grant(bob, "read", { env: `e${n}`, ends: Date.now() })
        return bob
      }).pipe(slow)
      const mayRead = outcome(enter(bob, "secret.read"))
      assert.deepStrictEqual([yield* fast(mayRead), yield* slow(mayRead)], ["success", "success"])
      // Before its end, neither server removes it, and both together remove each of the others once.
      const expire = Effect.flatMap(ruleExpiry, ({ run }) =>
        Effect.flatMap(Database, ({ transaction }) => run(transaction))
      )
      const together = Effect.all([fast(expire), slow(expire)], { concurrency: "unbounded" })
      yield* together
      const ended = Effect.map(fast(entries()), (log) => log.filter(({ action }) => action === "acl.expire").length)
      assert.strictEqual(yield* ended, 20)
      yield* Effect.sleep("1600 millis")
      assert.deepStrictEqual([yield* fast(mayRead), yield* slow(mayRead)], ["Forbidden", "Forbidden"])
      yield* together
      assert.strictEqual(yield* ended, 21)
    })
  )
})

describe("the end of a delegation", () => {
  it.scopedLive("is by the database's clock, whatever those of two servers say, as is the server's limit", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const services = Layer.mergeAll(Delegations.Default, Maintenance.Default).pipe(
        Layer.provide(PostgresErasuresLive),
        Layer.provideMerge(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      )
      const one = yield* Layer.build(services)
      const other = yield* Layer.build(Layer.fresh(services))
      const fast = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(hour)(Effect.provide(effect, one))
      const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(-hour)(Effect.provide(effect, other))
      const before = Date.now()
      const { ada, ending, limited } = yield* Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "a")
        const ending = yield* delegate(ada, { name: "ending", expires_in: 2 })
        const limited = yield* delegate(ada, { name: "limited", expires_in: 24 * 3_600 })
        // As if it was made almost a day ago, under a longer limit.
        yield* (yield* SqlClient.SqlClient)`
          UPDATE delegations SET created_at = created_at - ${24 * hour - 2_000}, expires_at = expires_at + ${24 * hour}
          WHERE id = ${limited.id}`
        return { ada, ending, limited }
      }).pipe(slow)
      const seen = Effect.all({
        listed: Effect.flatMap(Delegations, ({ list }) => Effect.map(list(ada), (all) => all.map(({ name }) => name))),
        ending: outcome(identified(ending)),
        limited: outcome(identified(limited))
      })
      yield* fast(Effect.flatMap(Maintenance, ({ sweep }) => sweep))
      const alive = { listed: ["ending", "limited"], ending: "success", limited: "success" }
      assert.deepStrictEqual([yield* fast(seen), yield* slow(seen)], [alive, alive])
      for (const time of [Date.parse(ending.created_at), Date.parse(ending.expires_at) - 2_000]) {
        assert.isAtLeast(time, before - 1)
        assert.isAtMost(time, Date.now())
      }
      yield* Effect.sleep("2100 millis")
      const dead = { listed: [], ending: "Unauthorized", limited: "Unauthorized" }
      assert.deepStrictEqual([yield* fast(seen), yield* slow(seen)], [dead, dead])
    })
  )
})

describe("the end of a request with secrets that waits for a person", () => {
  it.scopedLive("is by the database's clock, whatever those of two servers say", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const services = Layer.provideMerge(
        Layer.provide(Approvals.Default, Mailer.Default),
        everythingOnPostgres(url, yield* freshPath, { clock: "shared" })
      )
      const one = yield* Layer.build(services)
      const other = yield* Layer.build(Layer.fresh(services))
      const fast = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(hour)(Effect.provide(effect, one))
      const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) => ahead(-hour)(Effect.provide(effect, other))
      const approval = (n: number) => ApprovalId.make(`0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d0${n}`)
      const ada = yield* Effect.gen(function* () {
        const ada = yield* organization()
        const { env, org } = yield* enter(ada, "secret.list")
        const repo = yield* useRepo
        const request = JSON.stringify({
          method: "POST",
          url: "https://api.test/",
          headers: {},
          body: null,
          secrets: []
        })
        const asked = { orgId: org.id, envId: env.id, actorId: ada.id, actorName: ada.email, hash: "h", request }
        const [now, expiresAt] = [timestamp(Date.now()), timestamp(Date.now() + 2_000)]
        yield* transaction(
          Effect.forEach([1, 2, 3], (n) => repo.insertApproval({ ...asked, id: approval(n), now, expiresAt }))
        )
        return ada
      }).pipe(slow)
      const listed = Effect.gen(function* () {
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "approval.list"))
        return (yield* (yield* Approvals).list(place)).length
      }).pipe(asActor(ada))
      const decide = (n: number) =>
        Effect.gen(function* () {
          const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "approval.decide"))
          return yield* (yield* Approvals).decide(place, approval(n), "approve")
        }).pipe(asActor(ada), transaction, outcome)
      assert.deepStrictEqual([yield* fast(listed), yield* slow(listed)], [3, 3])
      assert.deepStrictEqual([yield* fast(decide(1)), yield* slow(decide(1))], ["success", "Conflict"])
      yield* Effect.sleep("2100 millis")
      // The approved one waits to be used for five minutes.
      assert.deepStrictEqual([yield* fast(listed), yield* slow(listed)], [1, 1])
      assert.deepStrictEqual([yield* fast(decide(2)), yield* slow(decide(3))], ["Conflict", "Conflict"])
    })
  )
})
