import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { keyNotice } from "@coffer/server/directory/service-accounts/KeyExpiry"
import { Access } from "@coffer/server/access/Access"
import { now } from "@coffer/server/base/Time"
import { Members } from "@coffer/server/directory/members/Members"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { usersRepo } from "@coffer/server/directory/users/Repo"
import { skipEvents } from "@coffer/server/edges/webhooks/Restored"
import { assert, describe, it } from "@effect/vitest"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import { Database } from "@coffer/server/database/Database"
import { Effect, Fiber, Redacted, TestClock } from "effect"
import { asActor, email, envPath, orgPath, person, setSecret, transaction } from "../support/Services.js"
import { type Received, signatures } from "./Receiver.js"
import {
  change,
  deliver,
  deliveriesOf,
  Hook,
  hooked,
  Mails,
  pass,
  rotate,
  sendAgain,
  sendTest,
  shown,
  start,
  withReceiver
} from "./World.js"

const canary = "sk_live_Canary9"
const staging = envPath("staging")

/** Sets a secret some times, in production or elsewhere. */
const set = (name: string, times = 1, path = envPath()) =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    for (let time = 0; time < times; time++) yield* setSecret(ada, name, `${canary} ${time}`, { path })
  })

const signedBy = (received: Received, ...keys: ReadonlyArray<Redacted.Redacted | string>): void => {
  const texts = keys.map((key) => (typeof key === "string" ? key : Redacted.value(key)))
  assert.strictEqual(received.headers["x-coffer-signature"], signatures(received, ...texts))
}

const refuse = (hook: Hook["Type"]) => {
  hook.answer = (response) => void response.writeHead(500).end("why")
}

const accept = (hook: Hook["Type"]) => {
  hook.answer = (response) => void response.writeHead(204).end()
}

describe("a webhook", () => {
  it.effect("is sent names and versions of what it asks for, signed, in the order of the log", () =>
    withReceiver(
      Effect.gen(function* () {
        yield* set("BEFORE")
        const webhook = yield* hooked({ environments: ["prod"] })
        const everything = yield* hooked({ events: ["*"], environments: ["webshop/sta*"] })
        yield* set("FIRST", 2)
        yield* set("ELSEWHERE", 1, staging)
        yield* set("LAST")
        yield* deliver
        const { received } = yield* Hook
        const own = received.filter(
          (one) => signatures(one, Redacted.value(webhook.signing_key)) === one.headers["x-coffer-signature"]
        )
        assert.deepStrictEqual(
          own.map(({ event: { environment, event, key, version } }) => [event, environment, key, version]),
          [
            ["secret.set", "prod", "FIRST", 1],
            ["secret.set", "prod", "FIRST", 2],
            ["secret.set", "prod", "LAST", 1]
          ]
        )
        const others = received.filter((one) => !own.includes(one))
        assert.deepStrictEqual(
          others.map(({ event: { event, key } }) => [event, key]),
          [["secret.set", "ELSEWHERE"]]
        )
        const [first] = own
        assert.deepStrictEqual(Object.keys(first?.event ?? {}).sort(), [
          ...["actor", "due_at", "environment", "event", "id", "key", "organization", "project", "subject", "time"],
          "version"
        ])
        assert.strictEqual(first?.headers["x-coffer-event-id"], first?.event.id)
        assert.strictEqual(first?.event.actor, "ada@example.com")
        for (const { text } of received) assert.notInclude(text, canary)
        const listed = yield* deliveriesOf(everything)
        assert.deepStrictEqual(
          listed.map(({ state, status, tries }) => [state, status, tries]),
          [["delivered", 204, 1]]
        )
        yield* deliver
        assert.strictEqual(received.length, 4)
      })
    )
  )

  it.effect("for a chat is sent a sentence with the same names in the chat's own form, signed as it is sent", () =>
    withReceiver(
      Effect.gen(function* () {
        const text = "acme: ada@example.com set FIRST_KEY (version 1) in webshop/prod"
        const forms = {
          slack: { text, mrkdwn: false, unfurl_links: false, unfurl_media: false },
          discord: { content: text.replace("_", "\\_"), allowed_mentions: { parse: [] }, flags: 4 },
          teams: {
            type: "message",
            attachments: [
              {
                contentType: "application/vnd.microsoft.card.adaptive",
                contentUrl: null,
                content: {
                  $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
                  type: "AdaptiveCard",
                  version: "1.4",
                  body: [{ type: "RichTextBlock", inlines: [{ type: "TextRun", text }] }]
                }
              }
            ]
          }
        } as const
        const hook = yield* Hook
        const chats = yield* Effect.forEach(["slack", "discord", "teams", "ntfy"] as const, (format) =>
          Effect.map(hooked({ url: `${hook.url}/${format}`, format }), (webhook) => ({ format, webhook }))
        )
        yield* set("FIRST_KEY")
        yield* deliver
        for (const { format, webhook } of chats) {
          assert.strictEqual(webhook.format, format)
          const received = hook.received.find(({ path }) => path === `/${format}`) ?? assert.fail(format)
          signedBy(received, webhook.signing_key)
          assert.notInclude(received.text, canary)
          assert.strictEqual(received.headers["x-coffer-event"], "secret.set")
          const { "content-type": type, title } = received.headers
          if (format === "ntfy") {
            assert.deepStrictEqual(
              [received.text, type, title],
              [text, "text/plain; charset=utf-8", "Coffer: secret.set"]
            )
          } else {
            assert.deepStrictEqual<unknown>(JSON.parse(received.text), forms[format])
            assert.deepStrictEqual([type, title], ["application/json", undefined])
          }
          // The list has the event, whatever its form.
          const [delivery] = yield* deliveriesOf(webhook)
          assert.deepInclude(delivery?.event, { event: "secret.set", key: "FIRST_KEY", version: 1 })
        }
        // A test, and what is sent again, have the form that the webhook has by then.
        const [slack] = chats
        const { webhook } = slack ?? assert.fail("no webhook")
        yield* sendTest(webhook)
        yield* deliver
        assert.include(
          hook.received.at(-1)?.text,
          "acme: ada@example.com sent a test to the webhook to http://127.0.0.1"
        )
        assert.strictEqual((yield* change(webhook, { format: "coffer" })).format, "coffer")
        const sent = (yield* deliveriesOf(webhook)).find(({ kind }) => kind === "event")
        yield* sendAgain(webhook, sent ?? assert.fail("no delivery"))
        yield* deliver
        assert.deepInclude(hook.received.at(-1)?.event, { event: "secret.set", key: "FIRST_KEY" })
        assert.strictEqual((yield* change(webhook, { enabled: true })).format, "coffer")
      })
    )
  )

  it.effect("that was down for most of a day gets all, in order, while other environments go on", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const webhook = yield* hooked()
        hook.answer = (response, { event }) =>
          void response.writeHead(event.environment === "prod" ? 500 : 200).end("an answer that nobody reads")
        yield* set("A", 2)
        yield* set("S", 2, staging)
        yield* deliver
        assert.deepStrictEqual(hook.secrets.toSorted(), ["prod A 1", "staging S 1", "staging S 2"])
        const [first, second] = (yield* deliveriesOf(webhook)).filter(({ event }) => event.environment === "prod")
        assert.deepStrictEqual([first?.reason, first?.status, first?.tries, second?.tries], ["status", 500, 1, 0])
        const { enabled, failing } = yield* shown(webhook)
        assert.isTrue(enabled)
        assert.deepStrictEqual([failing?.status, failing?.reason, failing?.tries], [500, "status", 1])
        assert.strictEqual(failing?.next_try_at, first?.next_try_at)
        yield* pass(22)
        yield* set("B", 3)
        const ids = hook.received.filter(({ event }) => event.environment === "prod").map(({ event }) => event.id)
        assert.deepStrictEqual([new Set(ids).size, ids.length], [1, 7])
        hook.received.length = 0
        accept(hook)
        yield* pass(8)
        assert.isUndefined((yield* shown(webhook)).failing)
        assert.deepStrictEqual(hook.secrets, ["prod A 1", "prod A 2", "prod B 1", "prod B 2", "prod B 3"])
      })
    )
  )

  it.effect("is disabled after eight tries, with a mail, and goes on in order when it is enabled again", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const ada = yield* person("ada@example.com")
        const place = yield* (yield* Access).org(orgPath(), "member.invite").pipe(asActor(ada))
        for (const [address, role] of [
          ["aaron@example.com", "admin"],
          ["grace@example.com", "admin"],
          ["gone@example.com", "admin"],
          ["dev@example.com", "developer"],
          ["never@example.com", "admin"]
        ] as const) {
          yield* transaction((yield* Members).invite(place, email(address), role))
          // Accepts, but for one of them.
          if (address !== "never@example.com") {
            yield* (yield* Access).org(orgPath(), "org.read").pipe(asActor(yield* person(address)))
          }
        }
        const gone = yield* person("gone@example.com")
        yield* transaction((yield* usersRepo).disable({ id: gone.id, now: yield* now }))
        const webhook = yield* hooked()
        const watching = yield* hooked({ events: ["webhook.*"] })
        hook.answer = (response, { event: { event } }) =>
          void response.writeHead(event === "secret.set" ? 307 : 200, { location: `${hook.url}/elsewhere` }).end()
        yield* set("A", 2)
        yield* pass(30)
        const failed = hook.received.filter(({ event }) => event.event === "secret.set")
        assert.deepStrictEqual([failed.length, new Set(failed.map(({ path }) => path)).size], [8, 1])
        const mails = (yield* Mails).filter(({ text }) => text.includes(webhook.id))
        const addresses: ReadonlyArray<string> = mails.map(({ to }) => to)
        const [mail] = mails
        assert.deepStrictEqual(addresses, ["ada@example.com", "aaron@example.com", "grace@example.com"])
        assert.include(mail?.text, "status 307")
        assert.notInclude(mail?.text, "/hook")
        yield* set("B")
        const heard = yield* deliveriesOf(watching)
        assert.include(
          heard.map(({ event }) => event.event),
          "webhook.disable"
        )
        hook.received.length = 0
        accept(hook)
        yield* pass(1)
        assert.deepStrictEqual(
          hook.received.filter(({ event }) => event.event === "secret.set"),
          []
        )
        yield* change(webhook, { enabled: true })
        yield* deliver
        assert.deepStrictEqual(
          hook.secrets.filter((text) => text.startsWith("prod")),
          ["prod A 1", "prod A 2", "prod B 1"]
        )
        yield* change(webhook, { enabled: false })
        yield* set("C", 2)
        yield* change(webhook, { enabled: true, skip: true })
        yield* set("D")
        hook.received.length = 0
        yield* deliver
        assert.deepStrictEqual(
          hook.secrets.filter((text) => text.startsWith("prod")),
          ["prod D 1"]
        )
      }).pipe(Effect.provide(Members.Default))
    )
  )

  it.effect("is signed with both keys while one is replaced", () =>
    withReceiver(
      Effect.gen(function* () {
        const { received } = yield* Hook
        const webhook = yield* hooked()
        const last = () => received.at(-1) ?? assert.fail("nothing was sent")
        yield* set("A")
        yield* deliver
        signedBy(last(), webhook.signing_key)
        const second = yield* rotate(webhook)
        yield* set("A")
        yield* deliver
        signedBy(last(), second, webhook.signing_key)
        yield* pass(25)
        yield* set("A")
        yield* deliver
        signedBy(last(), second)
        const third = yield* rotate(webhook, 0)
        yield* set("A")
        yield* deliver
        signedBy(last(), third)
      })
    )
  )

  it.effect("is not waited for", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const slow = yield* hooked()
        const asked = yield* Effect.async<void>((resume) => {
          hook.answer = () => resume(Effect.void)
        }).pipe(Effect.fork)
        yield* Effect.yieldNow()
        yield* set("B")
        const delivering = yield* Effect.fork(deliver)
        yield* Fiber.join(asked)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(delivering)
        assert.deepStrictEqual(
          (yield* deliveriesOf(slow)).map(({ reason, state }) => [reason, state]),
          [["timeout", "pending"]]
        )
      })
    )
  )

  it.effect("is sent tests and old events by hand, once each, and whatever is pending", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const webhook = yield* hooked()
        yield* set("A")
        yield* deliver
        const [delivered] = yield* deliveriesOf(webhook)
        refuse(hook)
        yield* TestClock.adjust("1 second")
        yield* set("B")
        yield* deliver
        yield* TestClock.adjust("1 second")
        yield* sendAgain(webhook, delivered ?? assert.fail("nothing was delivered"))
        yield* TestClock.adjust("1 second")
        yield* sendTest(webhook)
        hook.received.length = 0
        yield* deliver
        assert.deepStrictEqual(
          hook.received.map(({ event: { event, id } }) => [event, id === delivered?.event.id]).sort(),
          [
            ["secret.set", true],
            ["webhook.test", false]
          ]
        )
        assert.deepStrictEqual(
          (yield* deliveriesOf(webhook)).map(({ kind, state }) => [kind, state]),
          [
            ["event", "delivered"],
            ["event", "pending"],
            ["again", "failed"],
            ["test", "failed"]
          ]
        )
      })
    )
  )

  it.effect("of a restored server is not sent old events", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        yield* hooked()
        refuse(hook)
        yield* set("SENT")
        yield* deliver
        yield* set("UNSEEN")
        accept(hook)
        hook.received.length = 0
        yield* transaction(skipEvents)
        yield* pass(2)
        assert.deepStrictEqual(hook.secrets, [])
        yield* set("NEW")
        yield* deliver
        assert.deepStrictEqual(hook.secrets, ["prod NEW 1"])
      })
    )
  )

  it.effect("hears once of a key that expires within seven days, and its deliveries go after thirty", () =>
    withReceiver(
      Effect.gen(function* () {
        const hook = yield* Hook
        const ada = yield* person("ada@example.com")
        const webhook = yield* hooked({ events: ["service_account.expiring"] })
        const place = yield* (yield* Access).org(orgPath(), "service_account.create").pipe(asActor(ada))
        const accounts = yield* ServiceAccounts
        for (const [name, days] of [
          ["late", 90],
          ["soon", 10]
        ] as const) {
          yield* transaction(accounts.create(place, { name: ServiceAccountName.make(name), expires_in_days: days }))
        }
        const { run: announce } = yield* keyNotice
        const { transaction: fenced } = yield* Database
        yield* announce(fenced)
        yield* TestClock.adjust("4 days")
        yield* announce(fenced)
        yield* announce(fenced)
        yield* (yield* AuditLog).flush
        yield* deliver
        assert.deepStrictEqual(
          hook.received.map(({ event: { actor, due_at, event, subject } }) => [event, subject, due_at, actor]),
          [["service_account.expiring", "soon", new Date(start + 10 * 86_400_000).toISOString(), "expiry"]]
        )
        assert.strictEqual((yield* deliveriesOf(webhook)).length, 1)
        yield* TestClock.adjust("31 days")
        yield* (yield* Maintenance).sweep
        assert.strictEqual((yield* deliveriesOf(webhook)).length, 0)
      }).pipe(Effect.provide([ServiceAccounts.Default, Maintenance.Default]))
    )
  )
})
