import { AuditEntryId } from "@coffer/domain/base/Ids"
import { type WebhookEvent, webhookFormats } from "@coffer/domain/server/Webhook"
import { webhookEvents } from "@coffer/domain/server/WebhookEvents"
import { eventText } from "@coffer/server/edges/webhooks/EventText"
import { formatOf, messageOf } from "@coffer/server/edges/webhooks/Formats"
import { assert, describe, it } from "vitest"

const event = (more: Partial<WebhookEvent> = {}): WebhookEvent => ({
  event: "secret.set",
  id: AuditEntryId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d80"),
  time: "2026-01-31T12:00:00.000Z",
  organization: "acme",
  project: null,
  environment: null,
  key: null,
  version: null,
  subject: null,
  due_at: null,
  actor: "ada@example.com",
  ...more
})

describe("the text of an event", () => {
  it("is the sentence of the audit log where that needs only the event's names, and else says what it is about", () => {
    const inProd = { project: "webshop", environment: "prod" }
    const secret = { ...inProd, key: "DATABASE_URL", version: 3 }
    for (const [more, text] of [
      [secret, "ada@example.com set DATABASE_URL (version 3) in webshop/prod"],
      [{ ...secret, event: "secret.delete" }, "ada@example.com deleted DATABASE_URL (version 3) in webshop/prod"],
      [
        { event: "member.remove", subject: "eve@example.com" },
        "ada@example.com removed eve@example.com from the organization"
      ],
      [{ event: "project.create", subject: "shop" }, "ada@example.com created the project shop"],
      [
        { event: "env.delete", project: "webshop", subject: "prod" },
        "ada@example.com deleted the environment prod in webshop"
      ],
      [
        { event: "service_account.expiring", subject: "deploy", due_at: "2026-02-07T00:00:00.000Z" },
        "ada@example.com noted that the key of deploy expires at 2026-02-07T00:00:00.000Z"
      ],
      // Their sentences would need the role, the rule, or whether the secret is overdue.
      [{ event: "member.invite", subject: "eve@example.com" }, "ada@example.com: member.invite eve@example.com"],
      [{ event: "acl.grant", subject: "deploy" }, "ada@example.com: acl.grant deploy"],
      [
        { ...secret, event: "secret.due", version: null, due_at: "2026-02-07T00:00:00.000Z" },
        "ada@example.com: secret.due webshop/prod/DATABASE_URL (2026-02-07T00:00:00.000Z)"
      ],
      [{ event: "project.create" }, "ada@example.com: project.create"],
      [{ event: "later.event", subject: "a\r\nb" }, "ada@example.com: later.event a b"]
    ] as const) {
      assert.strictEqual(eventText(event(more)), `acme: ${text}`)
    }
  })

  it("never says that something is unknown, whatever the event lacks", () => {
    for (const name of webhookEvents) {
      for (const more of [{}, { project: "webshop" }, { subject: "x" }, { key: "K", environment: "e", project: "p" }]) {
        assert.notMatch(eventText(event({ event: name, ...more })), /unknown|undefined|null|\*/, name)
      }
    }
  })
})

describe("a message", () => {
  const hostile = '<!channel> <@U1> &amp; *x* _y_ `z` @everyone [a](https://evil.example) ||s|| \\ "q"'

  it("mentions nobody and formats nothing, whatever names are in it", () => {
    const sent = (format: "slack" | "discord" | "teams" | "ntfy") =>
      messageOf(format, event({ event: "x.y", subject: hostile }), "own")
    const text = `acme: ada@example.com: x.y ${hostile}`
    const slack: { text: string } = JSON.parse(sent("slack").body)
    assert.notMatch(slack.text, /[<>]|&(?!amp;|lt;|gt;)/)
    assert.strictEqual(slack.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"), text)
    const discord: { content: string } = JSON.parse(sent("discord").body)
    assert.notMatch(discord.content.replace(/\\./g, ""), /[\\*_~`|<>#[\]]/)
    assert.strictEqual(discord.content.replace(/\\(.)/g, "$1"), text)
    assert.include(sent("teams").body, JSON.stringify({ type: "TextRun", text }))
    assert.strictEqual(sent("ntfy").body, text)
  })

  it("of a format that only a later version knows is our own", () => {
    assert.deepStrictEqual(webhookFormats.map(formatOf), [...webhookFormats])
    for (const word of ["later", "constructor", ""]) assert.strictEqual(formatOf(word), "coffer")
    assert.strictEqual(messageOf("coffer", event(), "own").body, "own")
  })
})
