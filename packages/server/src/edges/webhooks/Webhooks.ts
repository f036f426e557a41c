import { actorName } from "@coffer/domain/access/Actor"
import { ValidationError } from "@coffer/domain/errors/Errors"
import { WebhookId } from "@coffer/domain/base/Ids"
import {
  changedWebhook,
  defaultFormat,
  originOf,
  type Webhook,
  type WebhookFormat,
  type WebhookWithKey
} from "@coffer/domain/server/Webhook"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { Place } from "../../access/Access.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { checkRecord, etagOfAll } from "../../http/ETag.js"
import { deliveriesRepo } from "./DeliveriesRepo.js"
import { KnownWebhooks, type WebhookPlace } from "./KnownWebhooks.js"
import { type WebhookRow, webhooksRepo } from "./Repo.js"
import { SigningKeys } from "./SigningKeys.js"

export const webhookLimit = recordLimit(20, (max) => `an organization has at most ${max} webhooks`)
const daySeconds = 24 * 60 * 60
const everything = ["*"]
export interface NewWebhook {
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly environments?: ReadonlyArray<string>
  readonly format?: WebhookFormat
}

export interface ChangedWebhook extends Partial<NewWebhook> {
  readonly enabled?: boolean
  readonly skip?: boolean
}

const decodeTexts = Schema.decode(Schema.parseJson(Schema.Array(Schema.String)))
/** The patterns of a row. */
export const patternsOf = (text: string) => Effect.orDie(decodeTexts(text))

/** The parts of a row's `failing`, which spaces separate; a missing one is a hyphen. */
const failingOf = (text: string): NonNullable<Webhook["failing"]> => {
  const [since = "", tries = "", status = "-", next = "-", ...reason] = text.split(" ")
  return {
    since,
    tries: Number(tries),
    status: status === "-" ? null : Number(status),
    reason: reason.length === 0 ? null : reason.join(" "),
    next_try_at: next === "-" ? null : next
  }
}

/** The columns that a change sets. `skip` sets none of them: it moves the deliveries. */
const settable = Struct.keys(Struct.omit(changedWebhook, "skip"))

/** The state of what can be changed of a webhook. */
const etagOf = (row: WebhookRow): string => etagOfAll(row.id, ...settable.map((column) => row[column]))

const webhookOf = ({ failing, key_number, ...row }: WebhookRow, millis: number): Effect.Effect<Webhook> =>
  Effect.gen(function* () {
    const events = yield* patternsOf(row.events)
    const environments = yield* patternsOf(row.environments)
    const isOver = row.old_key_until === null || row.old_key_until <= timestamp(millis)
    const old_key_until = isOver ? null : row.old_key_until
    return {
      ...row,
      events,
      environments,
      enabled: row.enabled === 1,
      old_key_until,
      ...(failing !== null && { failing: failingOf(failing) }),
      etag: etagOf({ failing, key_number, ...row })
    }
  })

/** The webhooks of organizations. Deliveries are made from the audit log and sent by a job. */
export class Webhooks extends Effect.Service<Webhooks>()("@coffer/server/Webhooks", {
  effect: Effect.gen(function* () {
    const repo = yield* webhooksRepo
    const deliveries = yield* deliveriesRepo
    const keys = yield* SigningKeys
    const outbound = yield* Outbound
    const { find, lock, record } = yield* KnownWebhooks

    const read = (place: WebhookPlace, id: WebhookId) =>
      Effect.flatMap(Effect.all([find(place, id), Clock.currentTimeMillis]), ([row, millis]) => webhookOf(row, millis))

    const checkUrl = (url: string) =>
      Effect.mapError(outbound.check(url), ({ message }) => new ValidationError({ message: `url: ${message}` }))

    const create = method("Webhooks.create", function* (place: Place<"webhook.create">, request: NewWebhook) {
      const { environments = everything, events, format = defaultFormat, url } = request
      yield* checkUrl(url)
      yield* webhookLimit.room(yield* repo.count({ orgId: place.org.id }))
      const id = WebhookId.make(yield* uuidV7)
      const created_at = yield* now
      const seq = (yield* repo.headOf({ log: place.org.id }))?.seq ?? 0
      yield* repo.insert([
        {
          ...{ id, org_id: place.org.id, url, events: JSON.stringify(events) },
          ...{ environments: JSON.stringify(environments), format, enabled: 1, seq, key_number: 1 },
          ...{ created_by: actorName(place.actor), created_at, updated_at: created_at }
        }
      ])
      const signing_key = yield* keys.make(id, 1)
      yield* record(place, { id, url }, "webhook.create", {
        events,
        environments,
        ...(format !== defaultFormat && { format })
      })
      const made: WebhookWithKey = { ...(yield* read(place, id)), signing_key }
      return made
    })

    const list = method("Webhooks.list", function* (place: Place<"webhook.list">) {
      const millis = yield* Clock.currentTimeMillis
      return yield* Effect.forEach(yield* repo.all({ orgId: place.org.id }), (row) => webhookOf(row, millis))
    })

    const get = traced("Webhooks.get")((place: Place<"webhook.list">, id: WebhookId) => read(place, id))

    /** Skips undelivered events. */
    const skipEvents = Effect.fnUntraced(function* (webhookId: WebhookId) {
      const moment = yield* now
      yield* deliveries.skipPending({ webhookId, now: moment })
      yield* deliveries.skipFailed({ webhookId, now: moment })
      yield* repo.skipEvents({ id: webhookId })
    })

    /** Retries undelivered events from now on, in their order. */
    const resume = Effect.fnUntraced(function* (webhookId: WebhookId) {
      const moment = yield* now
      yield* deliveries.reopen({ webhookId, now: moment })
      yield* deliveries.resetRetries({ webhookId, now: moment })
      yield* deliveries.scheduleNextOfAll({ webhookId, now: moment })
    })

    const update = method(
      "Webhooks.update",
      function* (place: Place<"webhook.update">, id: WebhookId, request: ChangedWebhook, ifMatch?: string) {
        const row = yield* lock(place, id)
        yield* checkRecord(`the webhook to ${originOf(row.url)}`, ifMatch, etagOf(row))
        const { enabled = row.enabled === 1, environments, events, format, skip = false, url = row.url } = request
        if (url !== row.url) yield* checkUrl(url)
        yield* repo.update({
          id,
          url,
          events: events === undefined ? row.events : JSON.stringify(events),
          environments: environments === undefined ? row.environments : JSON.stringify(environments),
          format: format ?? row.format,
          enabled: enabled ? 1 : 0,
          failedAt: enabled ? null : row.failed_at,
          now: yield* now
        })
        if (skip) yield* skipEvents(id)
        else if (request.enabled === true || (enabled && url !== row.url)) yield* resume(id)
        yield* record(place, { id, url }, "webhook.update", {
          ...(url !== row.url && { before: originOf(row.url) }),
          ...(events !== undefined && { events }),
          ...(environments !== undefined && { environments }),
          ...(format !== undefined && { format }),
          ...(request.enabled !== undefined && { enabled }),
          ...(skip && { skip })
        })
        return yield* read(place, id)
      }
    )

    /** Removes a webhook with its signing keys. Its deliveries are deleted later. */
    const remove = method("Webhooks.remove", function* (place: Place<"webhook.delete">, id: WebhookId) {
      const { key_number, url } = yield* lock(place, id)
      yield* repo.remove({ id, now: yield* now })
      yield* keys.remove(id, key_number)
      yield* keys.remove(id, key_number - 1)
      yield* record(place, { id, url }, "webhook.delete")
    })

    /** Makes a new key. The one before it goes on signing for the grace period, and the one before that is removed. */
    const rotateKey = method(
      "Webhooks.rotateKey",
      function* (place: Place<"webhook.update">, id: WebhookId, graceSeconds: number = daySeconds) {
        const { key_number, url } = yield* lock(place, id)
        const millis = yield* Clock.currentTimeMillis
        const number = key_number + 1
        const signing_key = yield* keys.make(id, number)
        yield* keys.remove(id, key_number - 1)
        if (graceSeconds === 0) yield* keys.remove(id, key_number)
        const oldKeyUntil = graceSeconds === 0 ? null : timestamp(millis + graceSeconds * 1000)
        yield* repo.setKey({ id, number, oldKeyUntil, now: timestamp(millis) })
        yield* record(place, { id, url }, "webhook.rotate", { grace_seconds: graceSeconds })
        const rotated: WebhookWithKey = { ...(yield* read(place, id)), signing_key }
        return rotated
      }
    )

    return { create, list, get, update, remove, rotateKey } as const
  }),
  dependencies: [KnownWebhooks.Default, SigningKeys.Default, Outbound.Default]
}) {}
