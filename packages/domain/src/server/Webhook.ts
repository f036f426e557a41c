import * as Schema from "effect/Schema"
import { AuditEntryId, WebhookDeliveryId, WebhookId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Pattern } from "../base/Pattern.js"
import { isPlainUrl } from "../base/PlainUrl.js"
import { etag } from "../base/RecordETag.js"
import {
  boundedArray,
  Count,
  createdAt,
  extensibleEnum,
  field,
  list,
  optional,
  Timestamp,
  updatedAt,
  withJsonSchema
} from "../base/Schemas.js"
import { isEventPattern } from "./WebhookEvents.js"

const maxUrl = 500
const local = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?(?:[/?]|$)/

const isWebhookUrl = (text: string): boolean =>
  text.length <= maxUrl && (text.startsWith("https://") || local.test(text)) && isPlainUrl(text)

const urlText = `an https address of at most ${maxUrl} characters, without user, password or fragment`

/** Where a webhook is sent. Plain http is for this machine alone. The server judges a literal address at once, and the addresses of a name at each delivery. */
export const WebhookUrl = Schema.String.pipe(
  Schema.filter(isWebhookUrl, {
    ...withMessage(`must be ${urlText}`),
    ...withJsonSchema(urlText, { type: "string", format: "uri", maxLength: maxUrl }),
    identifier: "WebhookUrl",
    examples: ["https://hooks.example.com/coffer"]
  })
)

/** An address without its path, which may hold a token of the receiver. */
export const originOf = (url: string): string => new URL(url).origin

/** The path of an address, for lists of those who may read the address. A query is hinted at. */
export const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url)
  return `${pathname === "/" ? "" : pathname}${search === "" ? "" : "?…"}`
}

const eventMessage = withMessage(
  "must be *, a group of events such as secret.*, or an event such as secret.set: docs/webhooks.md lists them"
)
export const EventPattern = Schema.String.pipe(Schema.filter(isEventPattern, eventMessage))

const isPattern = Schema.is(Schema.typeSchema(Pattern))
/** Two patterns, and what is between them. */
const maxPlacePattern = 2 * 200 + 1
const isPlacePattern = (text: string): boolean => {
  if (text.length > maxPlacePattern) return false
  const parts = text.split("/")
  return parts.length <= 2 && parts.every((part) => isPattern(part))
}
const placeMessage = withMessage(
  "must be patterns of environments such as prod, or of projects and environments such as webshop/*"
)
export const PlacePattern = Schema.String.pipe(Schema.filter(isPlacePattern, placeMessage))

const maxPatterns = 20
const Events = boundedArray(EventPattern, {
  items: { type: "string" },
  max: maxPatterns,
  text: `must be at most ${maxPatterns} patterns of events`,
  empty: "must be at least one pattern of events"
})
export const WebhookPlaces = boundedArray(PlacePattern, {
  items: { type: "string" },
  max: maxPatterns,
  text: `must be at most ${maxPatterns} patterns of environments`,
  empty: "must be at least one pattern of environments"
})

export const webhookFormats = ["coffer", "slack", "discord", "teams", "ntfy"] as const
export const WebhookFormat = Schema.Literal(...webhookFormats).annotations(
  withMessage(`must be one of ${webhookFormats.join(", ")}`)
)
export type WebhookFormat = typeof WebhookFormat.Type
export const defaultFormat = "coffer" satisfies WebhookFormat

const texts = {
  url: "where the events are sent",
  events: "which events: `*`, a group such as `secret.*`, or names such as `secret.set`",
  format:
    "the form of the body: `coffer` for programs, or a message for `slack`, `discord`, `teams` (Workflows) or `ntfy`; default: coffer",
  environments:
    "for events of an environment, which ones: names or patterns, with a project before a slash such as `webshop/prod`; default: all"
}
const eventsExample = ["secret.*", "service_account.expiring"]
const environmentsExample = ["prod"]

export const newWebhook = {
  url: field(WebhookUrl, texts.url),
  events: field(Events, texts.events, eventsExample),
  environments: optional(WebhookPlaces, texts.environments, environmentsExample),
  format: optional(WebhookFormat, texts.format, "slack")
}

export const changedWebhook = {
  url: optional(WebhookUrl, texts.url),
  events: optional(Events, texts.events, eventsExample),
  environments: optional(WebhookPlaces, texts.environments, environmentsExample),
  format: optional(WebhookFormat, texts.format, "slack"),
  enabled: optional(Schema.Boolean, "whether it is sent events; what happens in between is sent afterwards", true),
  skip: optional(Schema.Boolean, "whether to skip all events until now that were not delivered; default: false")
}

const graceMessage = withMessage("must be a whole number of seconds from 0 to 604800 (7 days)")
/** How long both keys sign. */
export const KeyGrace = Schema.Int.annotations(graceMessage).pipe(
  Schema.between(0, 604_800, {
    ...graceMessage,
    description: "how long deliveries are signed with the old key too, in seconds, at most 604800 (7 days)",
    examples: [86_400]
  })
)

/** A delivery that waits for another try. */
const Failing = Schema.Struct({
  since: field(Timestamp, "time of the event that could not be delivered", "2026-01-31T12:44:00.000Z"),
  tries: field(Count, "how often it was tried", 3),
  status: field(Schema.NullOr(Count), "the status of the last response; null: there was none", 500),
  reason: field(Schema.NullOr(Schema.String), "why the last try failed, in a word", "status"),
  next_try_at: field(Schema.NullOr(Timestamp), "time of the next try; null: no longer", "2026-01-31T14:06:00.000Z")
}).annotations({ identifier: "WebhookFailing", description: "a delivery that was tried in vain and is tried again" })

const fields = {
  id: field(WebhookId, "its id"),
  url: field(Schema.String, texts.url, "https://hooks.example.com/coffer"),
  events: field(Schema.Array(Schema.String), "the patterns of its events", eventsExample),
  environments: field(Schema.Array(Schema.String), "the patterns of its environments", environmentsExample),
  format: optional(extensibleEnum("WebhookFormat", "the form of a body", webhookFormats), texts.format, "slack"),
  enabled: field(Schema.Boolean, "whether it is sent events", true),
  failed_at: field(
    Schema.NullOr(Timestamp),
    "time when the server disabled it, because a delivery had failed 8 times; null otherwise",
    null
  ),
  pending: field(Count, "number of events that wait to be delivered", 0),
  old_key_until: field(
    Schema.NullOr(Timestamp),
    "time until which deliveries are signed with the replaced key too; null: no longer",
    null
  ),
  failing: optional(
    Failing,
    "the delivery that was tried in vain and is tried again; left out if the last one arrived, or none was tried"
  ),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  updated_at: updatedAt,
  etag
}

export const Webhook = Schema.Struct(fields).annotations({
  identifier: "Webhook",
  description: "an HTTP endpoint that receives the events of an organization, without its signing key"
})
export type Webhook = typeof Webhook.Type

/** Not a valid key, so that secret scanners do not report the documentation. */
const SigningKey = Schema.Redacted(Schema.String.annotations({ examples: ["svc_wh_…x7Qd"] }))

/** The only record that contains the key; returned once, after creation or rotation. */
export const WebhookWithKey = Schema.Struct({
  ...fields,
  signing_key: field(SigningKey, "the key that signs deliveries; returned only in this response")
}).annotations({
  identifier: "WebhookWithKey",
  description: "a webhook with its new signing key, which is returned only once"
})
export type WebhookWithKey = typeof WebhookWithKey.Type

const name = (description: string, example: string | null) => field(Schema.NullOr(Schema.String), description, example)

/** The body of a delivery: names and versions, never values. */
export const WebhookEvent = Schema.Struct({
  event: field(Schema.String, "the name of the event", "secret.set"),
  id: field(AuditEntryId, "the id of the event, the same in each try: that of its audit entry"),
  time: field(Timestamp, "time of the event"),
  organization: field(Schema.String, "the organization's name", "acme"),
  project: name("the project's name, if the event has one", "webshop"),
  environment: name("the environment's name, if the event has one", "prod"),
  key: name("the secret's key, if the event has one", "DATABASE_URL"),
  version: field(Schema.NullOr(Count), "the version of the secret, if the event has one", 3),
  subject: name("the person, account or thing that the event is about, if it is no secret", null),
  due_at: field(Schema.NullOr(Timestamp), "time when something expires or is due, if the event announces that", null),
  actor: field(Schema.String, "the e-mail or service account name of who did it", "ada@example.com")
}).annotations({ identifier: "WebhookEvent", description: "what a webhook is sent" })
export type WebhookEvent = typeof WebhookEvent.Type

export const deliveryKinds = ["event", "test", "again"] as const
export type DeliveryKind = (typeof deliveryKinds)[number]
export const deliveryStates = ["pending", "delivered", "failed", "skipped"] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** Why the last try failed. `status`: the response was not 2xx. */
export const deliveryReasons = [
  "status",
  "url",
  "scheme",
  "no address",
  "address refused",
  "certificate",
  "connection",
  "timeout"
] as const
export type DeliveryReason = (typeof deliveryReasons)[number]

export const WebhookDelivery = Schema.Struct({
  id: field(WebhookDeliveryId, "its id"),
  kind: field(
    extensibleEnum("DeliveryKind", "why it is sent", deliveryKinds),
    "event, test, or again (sent again by hand, once)",
    "event"
  ),
  event: field(WebhookEvent, "the body"),
  state: field(
    extensibleEnum("DeliveryState", "the state of a delivery", deliveryStates),
    "pending, delivered, failed or skipped",
    "delivered"
  ),
  tries: field(Count, "how often it was sent", 1),
  status: field(Schema.NullOr(Count), "the status of the last answer; null without one", 200),
  reason: field(
    Schema.NullOr(extensibleEnum("DeliveryReason", "why a try failed", deliveryReasons)),
    "why the last try failed; null if it did not",
    null
  ),
  next_try_at: field(
    Schema.NullOr(Timestamp),
    "time of the next try; null if there is none, or while an earlier event of the same environment is tried",
    null
  ),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({ identifier: "WebhookDelivery", description: "an event that is sent to a webhook" })
export type WebhookDelivery = typeof WebhookDelivery.Type

const cursorForm = /^d([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The end of a page of deliveries. Opaque: clients send it back as `after`. */
export const DeliveryCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["d0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dfe"]
  })
)

export const deliveryCursorOf = (id: WebhookDeliveryId): string => `d${id}`
export const deliveryOfCursor = (cursor: string): WebhookDeliveryId =>
  WebhookDeliveryId.make(cursorForm.exec(cursor)?.[1] ?? "")

export const WebhookDeliveryPage = Schema.Struct({
  ...list(WebhookDelivery).fields,
  pagination: field(
    Schema.Struct({
      limit: field(Count, "maximum number of records in a page", 50),
      has_next: field(Schema.Boolean, "whether there are more records", false),
      next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
    }),
    "position of this page in the list"
  )
}).annotations({ identifier: "WebhookDeliveryPage", description: "a page of deliveries, newest first" })
export type WebhookDeliveryPage = typeof WebhookDeliveryPage.Type
