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
import type { CommandLineSettings, Settings } from "@coffer/client/internal/Settings"
import { defined } from "@coffer/domain/base/Defined"
import type { Pattern } from "@coffer/domain/base/Pattern"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { argument, option, repeatedOption, secondsOf } from "../../grammar/Fields.js"
import { patternPlace, type PlaceOf } from "../../grammar/PlaceArguments.js"
import { completedBy, flag, old, type OptionSpec } from "../../grammar/Specs.js"

export const id = completedBy(
  "webhook",
  argument("ID", idOf(WebhookId), "The webhook's id, as coffer webhook list shows it")
)
export const deliveryId = completedBy(
  "delivery",
  argument("DELIVERY_ID", idOf(WebhookDeliveryId), "The delivery's id, as coffer webhook deliveries shows it")
)

const at = repeatedOption(
  "at",
  patternPlace,
  "Only events of this place, such as webshop/prod, 'webshop/*' or '*/prod'; may be given again; all, unless given"
)
const oldEnvironment = old(repeatedOption("environment", PlacePattern, "Old form of --at"))

/** Where the events are from: places, or the texts of an earlier release, in which a lone name is an environment of any project. */
type HookPlace = string | PlaceOf<Pattern, Pattern>

/** `--at`, or the option of earlier releases. */
const places: OptionSpec<ReadonlyArray<HookPlace>> = {
  data: { ...completedBy("env-path", at).data, value: "PLACE" },
  also: [oldEnvironment.data],
  decode: (texts, given) => {
    const olds = given.get("environment")
    if (olds === undefined) return at.decode(texts, given)
    return texts === undefined
      ? oldEnvironment.decode(olds, given)
      : Either.left("--at and --environment say the same: give one of them")
  }
}

interface Places {
  readonly places: ReadonlyArray<HookPlace>
}

const orgsOf = ({ places }: Places) => [
  ...new Set(places.flatMap((place) => (typeof place === "string" || place.org === undefined ? [] : [place.org])))
]

/** The organization that the places give, if they do. */
export const orgOfPlaces = (options: Places): CommandLineSettings => defined({ org: orgsOf(options)[0] })

/** The problem with the places; undefined if they can be of one organization. */
export const placesProblem = (options: Places): string | undefined =>
  orgsOf(options).length > 1 ? "--at: name places of one organization" : undefined

/** The patterns of places, as the server takes them: an environment of any project stands alone. */
export const patternsOf = ({ places }: Places, settings: Settings) =>
  Effect.forEach(places, (place) =>
    Effect.gen(function* () {
      if (typeof place === "string") return place
      const { env, project = yield* settings.project } = place
      return project === "*" ? env : `${project}/${env}`
    })
  )

const subscription = {
  events: repeatedOption(
    "event",
    EventPattern,
    "An event such as secret.set, a group such as 'secret.*', or '*'; may be given again"
  ),
  places,
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

export const grace = option(
  "grace",
  secondsOf(KeyGrace),
  "How long deliveries are signed with the old key too, such as 1h, at most 7d"
)
export const after = option("after", DeliveryCursor, "Go on behind a page, as that page says")
export const limit = option("limit", LimitParameter)
