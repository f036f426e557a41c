import { auditActions } from "@coffer/domain/audit/AuditEntry"
import { WebhookUrl } from "@coffer/domain/server/Webhook"
import { eventOfAction, fitsEvent } from "@coffer/domain/server/WebhookEvents"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"

const isUrl = Schema.is(WebhookUrl)

describe("the address of a webhook", () => {
  it("is one that the guard of outbound requests takes as it is written", () => {
    for (const url of [
      "https://hooks.example.com",
      "https://hooks.example.com:8443/a?b=c",
      "http://localhost:9/hook"
    ]) {
      assert.isTrue(isUrl(url), url)
    }
    for (const url of [
      ...["http://hooks.example.com/", "ftp://hooks.example.com/", "https://", "https://a:b@hooks.example.com/"],
      ...["https://hooks.example.com./", "https://bücher.example/", "https://0x7f.1/", "https://2130706433/"],
      ...["https://hooks.example.com/#a", "https://hooks.example.com\\@inside/", "https://hooks.example.com/a b"]
    ]) {
      assert.isFalse(isUrl(url), url)
    }
  })
})

describe("the events of webhooks", () => {
  it("are changes and announcements: no reads, and no logins", () => {
    const read = ["secret.read", "secret.check", "secret.compare", "secret.use", "secret.answer", "auth.login"]
    assert.deepStrictEqual(read.map(eventOfAction), [null, null, null, null, null, null])
    assert.strictEqual(eventOfAction("org.member_invite"), "member.invite")
  })

  it("do not include refusals and those of webhooks in *", () => {
    const events = auditActions.flatMap((action) => eventOfAction(action) ?? [])
    assert.deepStrictEqual(
      events.filter((event) => !fitsEvent(["*"], event)),
      events.filter((event) => event.startsWith("webhook.") || event === "access.denied")
    )
  })
})
