import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { pause } from "@coffer/server/base/EventLoop"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { Organizations, type OrganizationChanges } from "@coffer/server/directory/organizations/Organizations"
import { UnusedAccessJob } from "@coffer/server/directory/unused-access/UnusedAccessJob"
import { unusedAccessMails } from "@coffer/server/directory/unused-access/UnusedAccessMails"
import type { Actor } from "@coffer/domain/access/Actor"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Queue, TestClock } from "effect"
import { shared } from "../jobs/Support.js"
import { mailServer, type Received } from "../mail/Servers.js"
import {
  account,
  asActor,
  entries,
  grant,
  member,
  onDatabase,
  organization,
  orgPath,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

// The mails go to a mail server on loopback. The clock is the test's.

const dayOf = (month: number, day: number) => Date.UTC(2026, month - 1, day)
const at = (month: number, day: number) =>
  Effect.zipRight(
    Effect.flatMap(AuditLog, ({ flush }) => flush),
    TestClock.setTime(dayOf(month, day))
  )

/** The mailer of a server of its own, and a round of the job there. All mails of the round are sent when it ends. */
const round = Effect.flatten(unusedAccessMails).pipe(Effect.provide(Layer.merge(unfenced, Layer.fresh(Mailer.Default))))

const change = (actor: Actor, changes: OrganizationChanges, org = "acme") =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(org), "org.update").pipe(asActor(actor))
    return yield* transaction((yield* Organizations).update(place, changes))
  })

const textOf = ({ text }: Received): string => text.replace(/=\r\n/g, "").replace(/\r/g, "").replace(/=3D/g, "=")

/** The mails that have arrived. */
const arrived = (received: Queue.Queue<Received>) =>
  Effect.map(Queue.takeAll(received), (mails) => Chunk.toReadonlyArray(mails))

const addresses = (received: Queue.Queue<Received>) =>
  Effect.map(arrived(received), (mails) => mails.flatMap(({ to }) => to).sort())

/** An organization with a log of 150 days, on 1 June, with rules and an account that nobody used. */
const withUnused = <A, E, R>(
  test: (ada: Actor, received: Queue.Queue<Received>) => Effect.Effect<A, E, R>,
  refusals: ReadonlyArray<number> = []
) =>
  Effect.gen(function* () {
    const { port, received } = yield* mailServer({}, refusals)
    yield* Effect.gen(function* () {
      yield* TestClock.setTime(dayOf(1, 1))
      const ada = yield* organization()
      yield* setSecret(ada, "KEY", "hunter2")
      yield* grant(yield* member("bob@example.com", "developer"), "read", { project: "webshop", env: "prod" })
      yield* grant(yield* account("old-ci"), "write", { project: "web*", env: "*" })
      yield* at(6, 1)
      yield* test(ada, received)
    }).pipe(onDatabase({ SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_FROM: "coffer@example.com" }))
  }).pipe(Effect.scoped)

describe("the mail about unused access", () => {
  it.effect("is sent only if the owners want it, and the log says who changed that", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [])
        const changed = yield* change(ada, { unused_access_mail: "monthly" })
        assert.strictEqual(changed.unused_access_mail, "monthly")
        const entry = (yield* entries()).find(({ action }) => action === "org.update")
        assert.deepStrictEqual(
          [entry?.actor, entry?.metadata],
          ["ada@example.com", { name: "acme", before: "acme", unused_access_mail: "monthly" }]
        )
        yield* round
        const [mail, ...others] = yield* arrived(received)
        assert.deepStrictEqual([mail?.to, others], [["ada@example.com"], []])
        const text = textOf(mail!)
        assert.include(text, "Subject: Unused access in acme: 2 access rules and 1 service account")
        for (const line of [
          "  bob@example.com: read in webshop/prod\n",
          "  old-ci: write in web*/*\n",
          "Service accounts:\n\n  old-ci\n",
          "coffer acl list --org acme",
          "coffer org edit --unused-mail never --org acme"
        ])
          assert.include(text, line)
        assert.notInclude(text, "hunter2")
        assert.notInclude(text, "KEY")
      })
    )
  )

  it.effect("goes to the owners who can log in and have accepted, once in a calendar month", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const name of ["eve", "gone", "invited"]) yield* member(`${name}@example.com`, "owner")
        yield* member("admin@example.com", "admin")
        yield* sql`UPDATE users SET disabled_at = '2026-05-01T00:00:00.000Z' WHERE email = 'gone@example.com'`
        yield* sql`UPDATE members SET accepted_at = NULL WHERE user_id IN (
          SELECT id FROM users WHERE email = 'invited@example.com')`
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* round
        assert.deepStrictEqual(yield* addresses(received), ["ada@example.com", "eve@example.com"])
        yield* at(6, 30)
        yield* change(ada, { unused_access_mail: "never" })
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* member("new@example.com", "owner")
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [])
        yield* at(7, 1)
        yield* round
        assert.deepStrictEqual(yield* addresses(received), ["ada@example.com", "eve@example.com", "new@example.com"])
        yield* at(8, 1)
        yield* change(ada, { unused_access_mail: "never" })
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [])
      })
    )
  )

  it.effect("is not sent where everything was used, or the log cannot say", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const other = yield* organization("young", "webshop", "yve@example.com")
        yield* grant(yield* member("pat@example.com", "developer", "young"), "read", { org: "young" })
        yield* change(other, { unused_access_mail: "monthly" }, "young")
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* sql`DELETE FROM acl_rules WHERE subject_type = 'service_account'`
        yield* sql`UPDATE service_accounts SET last_used_at = '2026-05-20T00:00:00.000Z'`
        yield* readSecret(yield* member("zoe@example.com", "admin"), "KEY")
        const [bob] = yield* sql<{ readonly id: string }>`SELECT id FROM users WHERE email = 'bob@example.com'`
        yield* sql`UPDATE acl_rules SET updated_at = '2026-05-20T00:00:00.000Z' WHERE subject_id = ${bob!.id}`
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [])
        yield* at(6, 20)
        yield* sql`UPDATE acl_rules SET updated_at = '2026-01-01T00:00:00.000Z' WHERE subject_id = ${bob!.id}`
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [], "the month has been looked at")
        yield* at(7, 1)
        yield* round
        assert.deepStrictEqual(yield* addresses(received), ["ada@example.com"])
      })
    )
  )

  it.effect("names the first 50 of many, and how many more there are", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        const cy = yield* member("cy@example.com", "developer")
        for (let index = 0; index < 60; index++) yield* grant(cy, "read", { project: `p-${index}`, env: "prod" })
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* round
        const text = textOf((yield* arrived(received))[0]!)
        assert.include(text, "62 access rules and 1 service account")
        assert.lengthOf(text.match(/^ {2}\S+: (?:read|write) in /gm) ?? [], 50)
        assert.include(text, "\n  and 12 more\n")
      })
    )
  )

  it.effect("is sent once by two servers that look at the same time", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        yield* member("eve@example.com", "owner")
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* Effect.all([round, round], { concurrency: 2 })
        yield* round
        assert.deepStrictEqual(yield* addresses(received), ["ada@example.com", "eve@example.com"])
      })
    )
  )

  it.effect("is not sent again by a server that goes on after one that was killed", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        yield* change(ada, { unused_access_mail: "monthly" })
        const begun = yield* Deferred.make<void>()
        const stopped = Mailer.make({
          sendLoginCode: () => Effect.void,
          sendInvitation: () => Effect.void,
          sendNotice: () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
        })
        const killed = yield* Effect.fork(
          Effect.flatten(unusedAccessMails).pipe(Effect.provideService(Mailer, stopped), Effect.provide(unfenced))
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(killed)
        yield* round
        assert.deepStrictEqual(yield* addresses(received), [])
        yield* at(7, 1)
        yield* round
        assert.deepStrictEqual(yield* addresses(received), ["ada@example.com"])
      })
    )
  )

  it.effect("is sent in a later round to whom the mail server refuses it for now, and to nobody else again", () =>
    withUnused(
      (ada, received) =>
        Effect.gen(function* () {
          yield* member("eve@example.com", "owner")
          yield* change(ada, { unused_access_mail: "monthly" })
          const mailer = yield* Layer.build(Layer.fresh(Mailer.Default))
          yield* Effect.flatten(unusedAccessMails).pipe(
            Effect.provide(Layer.merge(unfenced, Layer.succeedContext(mailer)))
          )
          // The mailer tries the first mail three times, a second and two seconds later.
          let reached: string | undefined
          while (reached === undefined) {
            yield* Effect.zipRight(pause(50), TestClock.adjust("1 second"))
            reached = (yield* addresses(received))[0]
          }
          yield* round
          const late = yield* addresses(received)
          assert.sameMembers([reached, ...late], ["ada@example.com", "eve@example.com"])
          yield* round
          assert.deepStrictEqual(yield* addresses(received), [])
        }).pipe(Effect.scoped),
      [451, 451, 451]
    )
  )

  it.effect("comes from the job of one server, which looks every ten minutes", () =>
    withUnused((ada, received) =>
      Effect.gen(function* () {
        yield* Layer.build(
          Layer.merge(Layer.fresh(UnusedAccessJob), Layer.fresh(UnusedAccessJob)).pipe(
            Layer.provide(shared),
            Layer.provide(Layer.fresh(Mailer.Default))
          )
        )
        yield* pause(200)
        yield* change(ada, { unused_access_mail: "monthly" })
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual((yield* Queue.take(received)).to, ["ada@example.com"])
        yield* TestClock.adjust("10 minutes")
        yield* pause(200)
        assert.deepStrictEqual(yield* addresses(received), [])
      }).pipe(Effect.scoped)
    )
  )
})
