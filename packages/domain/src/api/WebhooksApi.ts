import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, LimitExceeded, RateLimited } from "../errors/Errors.js"
import { WebhookDeliveryId, WebhookId } from "../base/Ids.js"
import { RecordMatch } from "../base/RecordETag.js"
import { body, LimitParameter, list, optional } from "../base/Schemas.js"
import {
  changedWebhook,
  DeliveryCursor,
  KeyGrace,
  newWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookWithKey
} from "../server/Webhook.js"
import { response } from "./Response.js"
import { OrgPath, orgPath, paths } from "./Paths.js"
import { Admission, Polled, RecentLogin, recentLogin, requires } from "./Requirement.js"

const webhooks = `${paths.org}/webhooks` as const
const webhook = `${webhooks}/:webhook_id` as const
const deliveries = `${webhook}/deliveries` as const

const webhookPath = { ...orgPath, webhook_id: WebhookId }
const WebhookPath = Schema.Struct(webhookPath)
const DeliveryPath = Schema.Struct({ ...webhookPath, delivery_id: WebhookDeliveryId })

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("create", webhooks)
      .setPath(OrgPath)
      .setPayload(body(newWebhook))
      .addSuccess(response(WebhookWithKey, "The new webhook, with its signing key"), { status: 201 })
      .pipe(requires("webhook.create"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Create a webhook")
      .annotate(
        OpenApi.Description,
        "The signing key is returned only once, in this response. Events from now on are sent, as docs/webhooks.md describes."
      )
  )
  .add(
    HttpApiEndpoint.get("list", webhooks)
      .setPath(OrgPath)
      .addSuccess(response(list(Webhook), "The webhooks"))
      .pipe(requires("webhook.list"))
      .annotate(Polled, true)
      .annotate(OpenApi.Summary, "List the webhooks of an organization")
      .annotate(OpenApi.Description, "Oldest first. Signing keys are not returned.")
  )
  .add(
    HttpApiEndpoint.get("get", webhook)
      .setPath(WebhookPath)
      .addSuccess(response(Webhook, "The webhook"))
      .pipe(requires("webhook.list"))
      .annotate(OpenApi.Summary, "Read a webhook")
      .annotate(OpenApi.Description, "For admins and owners. The signing key is not returned.")
  )
  .add(
    HttpApiEndpoint.patch("update", webhook)
      .setPath(WebhookPath)
      .setPayload(body(changedWebhook))
      .setHeaders(RecordMatch)
      .addSuccess(response(Webhook, "The webhook as it is now"))
      .pipe(requires("webhook.update"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Change, disable or enable a webhook")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are. With `enabled: true`, or with another `url`, what was not delivered is tried again at once, in its order; with `skip: true`, all that was not delivered until now is skipped."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", webhook)
      .setPath(WebhookPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The webhook is removed"))
      .pipe(requires("webhook.delete"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a webhook and its signing keys")
      .annotate(OpenApi.Description, "Deliveries in flight may still arrive; no others start.")
  )
  .add(
    HttpApiEndpoint.post("rotateKey", `${webhook}/rotate-key`)
      .setPath(WebhookPath)
      .setPayload(body({ grace_seconds: optional(KeyGrace) }))
      .addSuccess(response(WebhookWithKey, "The webhook, with its new signing key"))
      .pipe(requires("webhook.update"), recentLogin("always"))
      .annotate(OpenApi.Summary, "Replace the signing key of a webhook")
      .annotate(
        OpenApi.Description,
        "The new key is returned only once. Deliveries are signed with both keys for `grace_seconds` (default 86400, a day; at most 7 days), so that the receiver can change at any time in between."
      )
  )
  .add(
    HttpApiEndpoint.post("test", `${webhook}/test`)
      .setPath(WebhookPath)
      .addSuccess(response(WebhookDelivery, "The delivery, which is sent at once", { kind: "test", state: "pending" }))
      .pipe(requires("webhook.update"))
      .addError(RateLimited)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Send a test event to a webhook")
      .annotate(
        OpenApi.Description,
        "Sends the event `webhook.test` once, also to a disabled webhook. The list of deliveries has the result. At most 10 a minute."
      )
  )
  .add(
    HttpApiEndpoint.get("deliveries", deliveries)
      .setPath(WebhookPath)
      .setUrlParams(Schema.Struct({ limit: optional(LimitParameter), after: optional(DeliveryCursor) }))
      .addSuccess(response(WebhookDeliveryPage, "A page of deliveries"))
      .pipe(requires("webhook.list"))
      .annotate(Polled, true)
      .annotate(OpenApi.Summary, "List the deliveries of a webhook, newest first")
      .annotate(
        OpenApi.Description,
        "Those of the last 30 days, and those that are pending. Send `next_cursor` as `after` to get the next page. Nothing that the receiver answered is in them but its status."
      )
  )
  .add(
    HttpApiEndpoint.post("sendAgain", `${deliveries}/:delivery_id/send`)
      .setPath(DeliveryPath)
      .addSuccess(
        response(WebhookDelivery, "The new delivery, which is sent at once", { kind: "again", state: "pending" })
      )
      .pipe(requires("webhook.update"))
      .addError(RateLimited)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Send an event again")
      .annotate(
        OpenApi.Description,
        "Once, whatever comes of it, and at once, whatever is pending. The event keeps its id. At most 60 a minute."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Webhooks")
  .annotate(OpenApi.Description, "HTTP endpoints that receive the events of an organization, by signed requests") {}
