import type { Actor } from "@coffer/domain/access/Actor"
import type { OrgId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { ApprovalMails } from "@coffer/server/access/gate/ApprovalMails"
import { pause } from "@coffer/server/base/EventLoop"
import { Mailer, type Notice } from "@coffer/server/base/mail/Mailer"
import { Approvals } from "@coffer/server/secrets/use/Approvals"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Queue, TestClock } from "effect"
import { mailServer, readText, type Received, silentServer } from "../mail/Servers.js"
import { asActor, grant, member, onDatabase, organization, orgPath, person } from "../support/Services.js"
import { canary, host, refusal, withUpstream, world } from "./World.js"

const settings = (port: number) => ({
  SMTP_HOST: "127.0.0.1",
  SMTP_PORT: String(port),
  SMTP_FROM: "coffer@example.com",
  SERVICE_PUBLIC_URL: "https://coffer.test"
})

/** Runs a test with the mails that arrive at a mail server. */
const mailing = <A, E, R>(
  test: (received: Queue.Queue<Received>) => Effect.Effect<A, E, R>,
  more: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(mailServer(), ({ port, received }) =>
    test(received).pipe(withUpstream({ ...settings(port), ...more }))
  ).pipe(Effect.scoped)

const each = { approval: "each" } as const

const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** Makes a request that waits for an approval. Returns the approval's id. */
const waits = (actor: Actor, name: string) =>
  Effect.map(
    refusal(actor, { method: "POST", path: `/v1/refunds/path_${name}`, body: "body_ch_1" }),
    (message) => id.exec(message)?.[0] ?? assert.fail(message)
  )

/** Whether the person sees a request, as one who may decide it. */
const sees = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "approval.list"))
    return (yield* (yield* Approvals).list(place)).length > 0
  }).pipe(
    asActor(actor),
    Effect.orElseSucceed(() => false)
  )

/** How many mails of the last hour count. */
const counted = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`SELECT id FROM rate_events WHERE kind = 'mail.approval.decide'`, ({ length }) => length)
)

/** Waits in real time until something holds. */
const until = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(Effect.zipLeft(holds, pause(10)), { until: (isSo) => isSo })

const recipients = (mails: Iterable<Received>) => [...mails].flatMap(({ to }) => to)

describe("a mail about a request that waits for an approval", () => {
  it.effect("names the place, the secrets and who asks, and has nothing of the request itself", () =>
    mailing((received) =>
      Effect.gen(function* () {
        const { bot } = yield* world(each)
        const approval = yield* waits(bot, "one")
        const mail = yield* Queue.take(received)
        assert.deepStrictEqual(mail.to, ["ada@example.com"])
        assert.match(mail.text, /^Subject: A request in acme waits for your approval\r$/m)
        assert.include(
          readText(mail),
          `
  Organization: acme
  Environment:  webshop/prod
  Secrets:      STRIPE_KEY
  Asked by:     service account agent
  Approval:     ${approval}

It waits for 5 minutes. To see it as it would be sent, and to decide:

  https://coffer.test/-/org/acme/-/approvals?id=${approval}
`
        )
        for (const hidden of [canary, host, "path_one", "body_ch_1"]) assert.notInclude(readText(mail), hidden)
      })
    )
  )

  it.effect("goes to those who see the request, rules first, and to nobody else", () =>
    mailing((received) =>
      Effect.gen(function* () {
        const { ada, bot } = yield* world(each)
        const people = {
          admin: yield* member("admin@example.com", "admin"),
          lead: yield* member("lead@example.com", "developer"),
          elsewhere: yield* member("elsewhere@example.com", "developer"),
          grouped: yield* member("grouped@example.com", "developer"),
          writer: yield* member("writer@example.com", "developer"),
          reader: yield* member("reader@example.com", "member"),
          disabled: yield* member("disabled@example.com", "admin"),
          removed: yield* member("removed@example.com", "admin")
        }
        const operator = yield* person("operator@example.com", { superadmin: true })
        yield* grant(people.lead, "admin", { project: "web*", env: "prod" })
        yield* grant(people.elsewhere, "admin", { project: "webshop", env: "dev" })
        yield* grant(people.writer, "write")
        yield* grant(people.reader, "admin")
        const sql = yield* SqlClient.SqlClient
        yield* grant(people.grouped, "admin", { project: "webshop", env: "prod" })
        yield* sql`INSERT INTO groups (id, org_id, name, created_by, created_at, updated_at)
          SELECT 'leads', id, 'leads', '', '2026', '2026' FROM organizations`
        yield* sql`INSERT INTO group_members (user_id, org_id, group_id, added_by, created_at)
          SELECT ${people.grouped.id}, id, 'leads', '', '2026' FROM organizations`
        yield* sql`UPDATE acl_rules SET subject_type = 'group', subject_id = 'leads' WHERE subject_id = ${people.grouped.id}`
        yield* sql`UPDATE users SET superadmin = 1 WHERE id = ${operator.id}`
        yield* sql`UPDATE users SET disabled_at = '2026' WHERE id = ${people.disabled.id}`
        yield* sql`UPDATE members SET removed_at = '2026' WHERE user_id = ${people.removed.id}`

        yield* waits(bot, "one")
        const mails = yield* Queue.takeN(received, 4)
        const deciders = ["ada@example.com", "admin@example.com", "grouped@example.com", "lead@example.com"]
        assert.deepStrictEqual(recipients(mails).sort(), deciders)
        // All mails about a request are counted at once.
        assert.strictEqual(yield* counted, 4)
        // A disabled person cannot log in to see it.
        const { disabled: _, ...others } = people
        const seen = yield* Effect.filter([ada, ...Object.values(others)], sees)
        assert.deepStrictEqual(seen.map(({ email }): string => email).sort(), deciders)

        // A person who asks is mailed too, if the person may decide.
        yield* TestClock.adjust("1 hour")
        yield* sql`UPDATE members SET role = 'member' WHERE role = 'admin'`
        yield* sql`UPDATE use_rule_accounts SET subject_id = ${people.lead.id}`
        const now = "2026-01-31T13:00:00.000Z"
        yield* sql`INSERT INTO sessions ${sql.insert({
          ...{ id: people.lead.sessionId, user_id: people.lead.id, token_hash: "0".repeat(64) },
          ...{ created_at: now, last_used_at: now }
        })}`
        for (let index = 0; index < 25; index++) yield* member(`admin-${index}@example.com`, "admin")
        yield* waits(people.lead, "two")
        const more = recipients(yield* Queue.takeN(received, 20))
        assert.include(more, "lead@example.com")
        assert.isTrue(more.every((to) => /^(?:lead|grouped|ada|admin-\d+)@/.test(to)))
        assert.strictEqual(yield* counted, 4 + 20)
      })
    )
  )

  it.effect("comes once an hour for a person and an organization", () =>
    mailing((received) =>
      Effect.gen(function* () {
        const { bot } = yield* world(each)
        const next = Effect.map(Queue.take(received), (mail) => [...mail.to, id.exec(readText(mail))?.[0]])
        const first = yield* waits(bot, "one")
        assert.deepStrictEqual(yield* next, ["ada@example.com", first])
        for (const name of ["two", "three"]) yield* waits(bot, name)
        yield* member("grace@example.com", "admin")
        // Mails leave in their order: one to ada would arrive first.
        const another = yield* waits(bot, "four")
        assert.deepStrictEqual(yield* next, ["grace@example.com", another])
        yield* TestClock.adjust("1 hour")
        const last = yield* waits(bot, "five")
        assert.sameDeepMembers(
          [yield* next, yield* next],
          [
            ["ada@example.com", last],
            ["grace@example.com", last]
          ]
        )
      })
    )
  )

  it.effect("is not sent where the settings say so", () =>
    mailing(
      (received) =>
        Effect.gen(function* () {
          const { bot } = yield* world(each)
          yield* waits(bot, "one")
          assert.strictEqual(yield* counted, 0)
          assert.strictEqual(yield* Queue.size(received), 0)
        }),
      { SERVICE_APPROVAL_MAIL: "0" }
    )
  )

  it.effect(
    "keeps no request waiting if the mail server hangs, and is sent again if the server does not take it",
    () => {
      const lines: Array<string> = []
      const log = Logger.replace(
        Logger.defaultLogger,
        Logger.map(Logger.jsonLogger, (line) => void lines.push(line))
      )
      return Effect.flatMap(silentServer, ({ close, port }) =>
        Effect.gen(function* () {
          const { ada, bot } = yield* world(each)
          yield* waits(bot, "one")
          yield* until(Effect.map(counted, (count) => count === 1))
          assert.isTrue(yield* sees(ada))
          close()
          yield* until(
            Effect.zipRight(
              TestClock.adjust("5 seconds"),
              Effect.map(counted, (count) => count === 0)
            )
          )
          const mailLines = lines.filter((line) => line.includes("a notice was not mailed"))
          assert.lengthOf(mailLines, 1)
          assert.notMatch(lines.join("\n"), /ada@example\.com|STRIPE_KEY/)
        }).pipe(withUpstream(settings(port)))
      ).pipe(Effect.provide(log), Effect.scoped)
    }
  )
})

describe("several servers of one database", () => {
  it.effect("send one mail about their requests of an hour", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const idOf = (org: string) =>
        Effect.flatMap(Access, (access) => access.org(orgPath(org), "org.read")).pipe(
          asActor(ada),
          Effect.map((place) => place.org.id)
        )
      const orgId = yield* idOf("acme")
      yield* member("grace@example.com", "admin")
      const mailed: Array<Notice> = []
      const mailer = Mailer.make({
        sendLoginCode: () => Effect.void,
        sendInvitation: () => Effect.void,
        sendNotice: (notice) => Effect.sync(() => void mailed.push(notice))
      })
      const server = Layer.build(
        Layer.fresh(ApprovalMails.Default).pipe(Layer.provide(Layer.succeed(Mailer, mailer)))
      ).pipe(Effect.map(Context.get(ApprovalMails)))
      const ask = (id: OrgId, env: string) => ({
        action: "approval.decide" as const,
        orgId: id,
        place: { org: "any", project: "webshop", env },
        subject: "Subject",
        text: "Text",
        lifetime: Duration.minutes(5)
      })
      // The end of a server waits for what it has begun.
      yield* Effect.scoped(
        Effect.flatMap(Effect.all([server, server, server]), (servers) =>
          Effect.forEach(["dev", "prod"], (env) => Effect.forEach(servers, ({ send }) => send(ask(orgId, env))))
        )
      )
      assert.deepStrictEqual(mailed.map(({ to }): string => to).sort(), ["ada@example.com", "grace@example.com"])

      // A person gets ten an hour from all organizations.
      const others = yield* Effect.forEach(Array.from({ length: 12 }), (_none, index) =>
        Effect.zipRight(organization(`org-${index}`), idOf(`org-${index}`))
      )
      yield* Effect.scoped(
        Effect.flatMap(server, ({ send }) => Effect.forEach(others, (other) => send(ask(other, "prod"))))
      )
      assert.lengthOf(
        mailed.filter(({ to }) => to === ada.email),
        10
      )
    }).pipe(onDatabase(settings(25)))
  )
})
