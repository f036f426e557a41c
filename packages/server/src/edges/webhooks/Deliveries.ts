import { actorName } from "@coffer/domain/access/Actor"
import { RateLimited, ValidationError } from "@coffer/domain/errors/Errors"
import { AuditEntryId, WebhookDeliveryId, type WebhookId } from "@coffer/domain/base/Ids"
import {
  deliveryCursorOf,
  deliveryOfCursor,
  originOf,
  type WebhookDelivery,
  type WebhookDeliveryPage,
  WebhookEvent
} from "@coffer/domain/server/Webhook"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { method } from "../../base/tracing/Traced.js"
import { deliveriesRepo, type DeliveryRow } from "./DeliveriesRepo.js"
import { KnownWebhooks } from "./KnownWebhooks.js"

const defaultLimit = 50
/** Behind all ids. */
const end = "g"

const tests: RateLimit = { kind: "webhook_test", max: 10, window: 60_000 }
const resends: RateLimit = { kind: "webhook_again", max: 60, window: 60_000 }

export interface DeliveryPageRequest {
  readonly limit?: number
  readonly after?: string
}

const decodeEvent = Schema.decode(Schema.parseJson(WebhookEvent))

const deliveryOf = ({ body, next_at, ...row }: DeliveryRow): Effect.Effect<WebhookDelivery> =>
  Effect.map(Effect.orDie(decodeEvent(body)), (event) => ({ ...row, event, next_try_at: next_at }))

/** The deliveries of webhooks: those of the last 30 days, and those that are sent by hand. */
export class Deliveries extends Effect.Service<Deliveries>()("@coffer/server/Deliveries", {
  effect: Effect.gen(function* () {
    const deliveries = yield* deliveriesRepo
    const { find, lock, record } = yield* KnownWebhooks
    const limits = yield* RateLimits

    const limited = Effect.fnUntraced(function* (limit: RateLimit, id: WebhookId) {
      const retryAfter = yield* limits.wait(limit, id)
      if (retryAfter > 0) {
        return yield* new RateLimited({
          message: `at most ${limit.max} a minute are sent by hand: try again in ${retryAfter} seconds`,
          retryAfter
        })
      }
      yield* limits.count(limit, id)
    })

    /** Adds a delivery that is sent once, at once, and in no order. */
    const send = Effect.fnUntraced(function* (webhookId: WebhookId, kind: "test" | "again", body: string) {
      const id = WebhookDeliveryId.make(yield* uuidV7)
      const moment = yield* now
      yield* deliveries.insert([{ id, webhookId, kind, lane: id, seq: 0, body, nextAt: moment, now: moment }])
      const row = yield* deliveries.find({ webhookId, id })
      return row === undefined ? yield* Effect.dieMessage("a delivery was not stored") : yield* deliveryOf(row)
    })

    const test = method("Deliveries.test", function* (place: Place<"webhook.update">, id: WebhookId) {
      const row = yield* lock(place, id)
      yield* limited(tests, id)
      const event: WebhookEvent = {
        event: "webhook.test",
        id: AuditEntryId.make(yield* uuidV7),
        time: yield* now,
        organization: place.org.name,
        project: null,
        environment: null,
        key: null,
        version: null,
        subject: originOf(row.url),
        due_at: null,
        actor: actorName(place.actor)
      }
      yield* record(place, row, "webhook.test")
      return yield* send(id, "test", JSON.stringify(event))
    })

    const sendAgain = method(
      "Deliveries.sendAgain",
      function* (place: Place<"webhook.update">, id: WebhookId, deliveryId: WebhookDeliveryId) {
        const row = yield* lock(place, id)
        const found = yield* deliveries.find({ webhookId: id, id: deliveryId })
        if (found === undefined) return yield* notFound(`delivery ${deliveryId}`)
        yield* limited(resends, id)
        yield* record(place, row, "webhook.send", { delivery: deliveryId })
        return yield* send(id, "again", found.body)
      }
    )

    const list = method(
      "Deliveries.list",
      function* (place: Place<"webhook.list">, id: WebhookId, request: DeliveryPageRequest) {
        const { after, limit = defaultLimit } = request
        yield* find(place, id)
        const before = after === undefined ? end : deliveryOfCursor(after)
        if (after !== undefined && (yield* deliveries.find({ webhookId: id, id: before })) === undefined) {
          return yield* new ValidationError({ message: "after: must be the next_cursor of an earlier page" })
        }
        const rows = yield* deliveries.page({ webhookId: id, before, limit: limit + 1 })
        const data = yield* Effect.forEach(rows.slice(0, limit), deliveryOf)
        const last = data.at(-1)
        const has_next = rows.length > limit
        const found: WebhookDeliveryPage = {
          data,
          pagination: {
            limit,
            has_next,
            next_cursor: has_next && last !== undefined ? deliveryCursorOf(last.id) : null
          }
        }
        return found
      }
    )

    return { list, test, sendAgain } as const
  }),
  dependencies: [KnownWebhooks.Default, RateLimits.Default]
}) {}
