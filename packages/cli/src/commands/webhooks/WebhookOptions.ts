import { idOf } from "../../grammar/IdKinds.js"
import { LimitParameter } from "@coffer/domain/base/Schemas"
import { WebhookDeliveryId, WebhookId } from "@coffer/domain/base/Ids"
import {
  DeliveryCursor,
  EventPattern,
  KeyGrace,
  PlacePattern,
  WebhookFormat,
  WebhookUrl
} from "@coffer/domain/server/Webhook"
import { argument, option, repeatedOption, secondsOf } from "../../grammar/Fields.js"
import { completedBy, flag } from "../../grammar/Specs.js"

export const id = completedBy(
  "webhook",
  argument("ID", idOf(WebhookId), "The webhook's id, as coffer webhook list shows it")
)
export const deliveryId = completedBy(
  "delivery",
  argument("DELIVERY_ID", idOf(WebhookDeliveryId), "The delivery's id, as coffer webhook deliveries shows it")
)

const subscription = {
  events: repeatedOption(
    "event",
    EventPattern,
    "An event such as secret.set, a group such as 'secret.*', or '*'; may be given again"
  ),
  environments: repeatedOption(
    "environment",
    PlacePattern,
    "An environment or a pattern, such as prod or 'webshop/*'; may be given again; all, unless given"
  ),
  format: option("format", WebhookFormat, "The form of what is sent: a message for a chat; coffer, unless given")
}

export const createFields = {
  url: argument("URL", WebhookUrl, "Where the events are sent: an https address"),
  ...subscription
}

export const editFields = {
  id,
  url: option("url", WebhookUrl, "Where the events are sent from now on"),
  ...subscription,
  enable: flag("enable", "Send events again, beginning with what was not delivered"),
  disable: flag("disable", "Send no events until it is enabled; they are kept"),
  skip: flag("skip", "Skip the events that were not delivered until now")
}

export const grace = option("grace", secondsOf(KeyGrace))
export const after = option("after", DeliveryCursor, "Go on behind a page, as that page says")
export const limit = option("limit", LimitParameter)
