import { dueStates } from "@coffer/domain/secrets/DueState"
import { Database } from "@coffer/server/database/Database"
import { secretsDue } from "@coffer/server/secrets/dues/DueMetrics"
import { DueJob } from "@coffer/server/secrets/dues/DueJob"
import { Dues } from "@coffer/server/secrets/dues/Dues"
import { pause } from "@coffer/server/base/EventLoop"
import { Mailer, type Notice } from "@coffer/server/base/mail/Mailer"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Metric, Scope, TestClock } from "effect"
import {
  entries,
  envPath,
  grant,
  member,
  onDatabase,
  organization,
  person,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import { at, setDue, start } from "./World.js"

/** The mails that were queued. */
class Mailed extends Context.Tag("@coffer/server/Job.test/Mailed")<Mailed, Array<Notice>>() {}

const MailerDouble = Layer.effect(
  Mailer,
  Effect.map(Mailed, (mailed) =>
    Mailer.make({
      sendLoginCode: () => Effect.void,
      sendInvitation: () => Effect.void,
      sendNotice: (notice) => Effect.sync(() => void mailed.push(notice))
    })
  )
)

/** Starts one more server of the database. Returns how it ends. */
const server = Effect.gen(function* () {
  const scope = yield* Effect.acquireRelease(Scope.make(), (made) => Scope.close(made, Exit.void))
  yield* Layer.buildWithScope(Layer.provide(Layer.fresh(DueJob), MailerDouble), scope)
  yield* pause(100)
  return Scope.close(scope, Exit.void)
})

/** Lets time pass until the next round is over. */
const round = Effect.zipRight(TestClock.adjust("1 minute"), pause(100))

/** Lets days pass without a server, and starts one for a round. */
const daysLater = (days: number) =>
  Effect.scoped(Effect.zipRight(TestClock.adjust(`${days} days`), Effect.flatten(server)))

const withJob = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.zipRight(TestClock.setTime(start), test).pipe(
    Effect.scoped,
    Effect.provide(Dues.Default),
    Effect.provideService(Mailed, []),
    onDatabase()
  )

const made = Effect.map(entries(), (all) =>
  all.flatMap(({ action, metadata }) => {
    const { key, state } = metadata as { readonly key: string; readonly state: string }
    return action === "secret.due" ? [`${key} ${state}`] : []
  })
)

const mails = Effect.map(Mailed, (mailed) =>
  mailed
    .splice(0)
    .map(({ text, to }) => [to, ...[...text.matchAll(/^ {2}[\d-]+ {2}(\S+ \S+)/gm)].map(([, name]) => name)])
)

describe("a secret with a due date", () => {
  it.effect("makes an entry 14 days before and one when it is overdue, each once, over restarts", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { SOON: "1", LATE: "2", FAR: "3", GONE: "4" } })
      yield* setDue(ada, "SOON", { expires_at: at(5), owner: "ada@example.com" })
      yield* setDue(ada, "LATE", { expires_at: at(-5) })
      yield* setDue(ada, "FAR", { rotate_every_days: 20 })
      yield* setDue(ada, "GONE", { expires_at: at(5) })
      yield* removeSecret(ada, "GONE")
      const end = yield* server
      assert.sameMembers(yield* made, ["SOON due", "LATE overdue"])
      const written = (yield* entries()).filter(({ action }) => action === "secret.due")
      const soon = written.find(({ metadata }) => JSON.stringify(metadata).includes("SOON"))
      assert.deepStrictEqual(
        [soon?.actor_type, soon?.actor, soon?.actor_id, soon?.resource_type, soon?.metadata],
        [
          "system",
          "due dates",
          null,
          "secret",
          {
            project: "webshop",
            env: "prod",
            key: "SOON",
            version: 1,
            state: "due",
            due_at: at(5),
            owner: "ada@example.com"
          }
        ]
      )
      yield* round
      yield* end
      yield* daysLater(0)
      assert.lengthOf(yield* made, 2, "none is made again")
      yield* daysLater(6)
      assert.deepStrictEqual((yield* made).slice(2).sort(), ["FAR due", "SOON overdue"])
      yield* daysLater(14)
      assert.deepStrictEqual((yield* made).slice(4), ["FAR overdue"])
      yield* setSecret(ada, "FAR", "new")
      yield* daysLater(10)
      assert.deepStrictEqual((yield* made).slice(5), ["FAR due"], "of its next version")
    }).pipe(withJob)
  )

  it.effect("makes its entry on one of two servers of a database", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "1")
      yield* setDue(ada, "A", { expires_at: at(5) })
      const shared = Layer.effect(
        Database,
        Effect.map(Database, (database) => Database.of({ ...database, isShared: true }))
      )
      yield* Effect.gen(function* () {
        const ends = [yield* server, yield* server]
        yield* round
        assert.deepStrictEqual(yield* made, ["A due"])
        yield* ends[0] ?? Effect.void
        yield* setDue(ada, "A", { expires_at: at(4) })
        yield* round
        yield* round
        assert.deepStrictEqual(yield* made, ["A due", "A due"], "by the other one")
      }).pipe(Effect.provide(shared))
    }).pipe(withJob)
  )

  it.effect("counts in the gauge by its state, while its server counts", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1", B: "2", C: "3", D: "4" } })
      for (const [name, days] of Object.entries({ A: 5, B: -1, C: 7, D: 15 })) {
        yield* setDue(ada, name, { expires_at: at(days) })
      }
      const gauge = Effect.all(
        dueStates.map((state) => Effect.map(Metric.value(secretsDue(state)), ({ value }) => value))
      )
      const end = yield* server
      assert.deepStrictEqual(yield* gauge, [2, 1])
      yield* setSecret(ada, "B", "new")
      yield* setDue(ada, "B", { expires_at: null })
      yield* end
      assert.deepStrictEqual(yield* gauge, [NaN, NaN], "another server counts")
      yield* daysLater(6)
      assert.deepStrictEqual(yield* gauge, [NaN, NaN])
    }).pipe(withJob)
  )
})

describe("the mail about what is due", () => {
  it.effect("goes to an owner once a week, with all that the owner may list", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const grace = yield* member("grace@example.com", "developer")
      yield* grant(grace, "read", { env: "prod" })
      yield* person("stranger@example.com")
      const owners = {
        A: "grace@example.com",
        B: "grace@example.com",
        C: "stranger@example.com",
        D: "team@example.com"
      }
      for (const [name, owner] of Object.entries(owners)) {
        for (const path of [envPath("dev"), envPath("prod")]) {
          yield* setSecret(ada, name, "hunter2", { path })
          yield* setDue(ada, name, { expires_at: name === "B" ? at(-1) : at(3), owner }, path)
        }
      }
      const end = yield* server
      const mail = ["grace@example.com", "acme/webshop/prod B", "acme/webshop/prod A"]
      assert.deepStrictEqual(yield* mails, [mail], "neither strangers nor places that the owner may not see")
      yield* end
      yield* daysLater(6)
      assert.deepStrictEqual(yield* mails, [])
      yield* daysLater(1)
      assert.deepStrictEqual(yield* mails, [mail])
      yield* setDue(ada, "A", { expires_at: null })
      yield* setDue(ada, "B", { owner: "ada@example.com" })
      yield* daysLater(10)
      assert.deepStrictEqual(yield* mails, [["ada@example.com", "acme/webshop/prod B"]])
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE users SET disabled_at = ${at(0)} WHERE email = 'ada@example.com'`
      yield* daysLater(10)
      assert.deepStrictEqual(yield* mails, [])
    }).pipe(withJob)
  )

  it.effect("is sent again in the next round if the mail server did not take it", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "1")
      yield* setDue(ada, "A", { expires_at: at(3), owner: "ada@example.com" })
      const end = yield* server
      const mail = ["ada@example.com", "acme/webshop/prod A"]
      const [notice = assert.fail("no mail")] = yield* Mailed
      assert.deepStrictEqual(yield* mails, [mail])
      yield* round
      assert.deepStrictEqual(yield* mails, [])
      const lost = notice.lost ?? assert.fail("a mail that cannot be queued again")
      yield* lost
      yield* round
      assert.deepStrictEqual(yield* mails, [mail])
      yield* lost
      yield* round
      assert.deepStrictEqual(yield* mails, [], "an older one that is lost late takes nothing from the newer one")
      yield* end
    }).pipe(withJob)
  )
})
