import { defaultFormat, type WebhookEvent, type WebhookFormat, webhookFormats } from "@coffer/domain/server/Webhook"
import { eventText } from "./EventText.js"

/** The body of a delivery, and the headers that belong to it. */
export interface Message {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const json = (content: unknown): Message => ({
  body: JSON.stringify(content),
  headers: { "content-type": "application/json" }
})

/** Slack's three control characters: without them, no name can be a link or mention a channel. */
const forSlack = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Escapes the characters that format text in Discord, such as the underscores of a key. */
const forDiscord = (text: string): string => text.replace(/[\\*_~`|<>#[\]]/g, "\\$&")

/** The forms of messages by the services' documentation. Each shows a name as it is, and lets none mention anybody. */
const forms: Readonly<Record<Exclude<WebhookFormat, "coffer">, (event: WebhookEvent, text: string) => Message>> = {
  slack: (_, text) => json({ text: forSlack(text), mrkdwn: false, unfurl_links: false, unfurl_media: false }),
  // The flag 4 suppresses embeds.
  discord: (_, text) => json({ content: forDiscord(text), allowed_mentions: { parse: [] }, flags: 4 }),
  // A text run, unlike a text block, is no markdown.
  teams: (_, text) =>
    json({
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
    }),
  ntfy: ({ event }, text) => ({
    body: text,
    headers: { "content-type": "text/plain; charset=utf-8", title: `Coffer: ${event}` }
  })
}

/** The format of a stored word. A later version's format is sent as our own. */
export const formatOf = (word: string): WebhookFormat => webhookFormats.find((one) => one === word) ?? defaultFormat

/** Returns what is sent of an event whose own form is `body`. */
export const messageOf = (format: WebhookFormat, event: WebhookEvent, body: string): Message =>
  format === "coffer"
    ? { body, headers: { "content-type": "application/json" } }
    : forms[format](event, eventText(event))
