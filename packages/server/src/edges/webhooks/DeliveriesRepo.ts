import { OrgId, WebhookDeliveryId, WebhookId } from "@coffer/domain/base/Ids"
import type { DeliveryKind } from "@coffer/domain/server/Webhook"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql, usingIndex } from "../../database/Query.js"
import { CountRow, idRow, IdRow } from "../../database/Rows.js"
import { makePurge } from "../../database/jobs/Purge.js"

/** Events are not sent after this time, such as those of a webhook that was disabled for long. */
export const keptMillis = 30 * 24 * 60 * 60 * 1000

/** A delivery that waits goes with its webhook alone. */
export const deliveryPurge = makePurge({
  table: "webhook_deliveries",
  lifetime: keptMillis,
  ended: sql`created_at <= ${"until"} AND (state <> 'pending' OR NOT EXISTS (
    SELECT 1 FROM webhooks w JOIN organizations o ON o.id = w.org_id AND o.removed_at IS NULL
    WHERE w.id = webhook_deliveries.webhook_id AND w.removed_at IS NULL))`
})

const DeliveryRow = Schema.Struct({
  id: WebhookDeliveryId,
  kind: Schema.String,
  body: Schema.String,
  state: Schema.String,
  tries: Schema.Number,
  status: Schema.NullOr(Schema.Number),
  reason: Schema.NullOr(Schema.String),
  next_at: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  updated_at: Schema.String
})
export type DeliveryRow = typeof DeliveryRow.Type

const DueRow = Schema.Struct({
  id: WebhookDeliveryId,
  webhook_id: WebhookId,
  kind: Schema.String,
  lane: Schema.String,
  body: Schema.String,
  tries: Schema.Number,
  url: Schema.String,
  format: Schema.String,
  key_number: Schema.Number,
  old_key_until: Schema.NullOr(Schema.String)
})
export type DueRow = typeof DueRow.Type

/** A webhook that has not come to the head of its organization's log. */
const BehindRow = Schema.Struct({
  id: WebhookId,
  org_id: OrgId,
  org_name: Schema.String,
  events: Schema.String,
  environments: Schema.String,
  seq: Schema.Number,
  head: Schema.Number
})
export type BehindRow = typeof BehindRow.Type

const DueWebhookRow = Schema.Struct({ webhook_id: WebhookId, org_id: OrgId })
const OldestRow = Schema.Struct({ oldest: Schema.NullOr(Schema.String) })

export interface NewDelivery {
  readonly id: WebhookDeliveryId
  readonly webhookId: WebhookId
  readonly kind: DeliveryKind
  readonly lane: string
  readonly seq: number
  readonly body: string
  readonly nextAt: string | null
  readonly now: string
}

const newColumns = [
  "id",
  "webhook_id",
  "kind",
  "lane",
  "seq",
  "body",
  "state",
  "tries",
  "next_at",
  "created_at",
  "updated_at"
] as const

const columns = sql`id, kind, body, state, tries, status, reason, next_at, created_at, updated_at`

const ofLiveWebhook = sql`
  JOIN webhooks w ON w.id = d.webhook_id AND w.removed_at IS NULL
  JOIN organizations o ON o.id = w.org_id AND o.removed_at IS NULL`

/** Sendable deliveries: none of removed organizations, only manual ones of disabled webhooks. */
const sendable = sql`
  ${ofLiveWebhook} WHERE d.state = 'pending' AND d.next_at <= ${"now"} AND (w.enabled = 1 OR d.kind <> 'event')`

const skipped = sql`UPDATE webhook_deliveries SET state = 'skipped', next_at = NULL, updated_at = ${"now"}`

/** The first delivery of each lane of a webhook. */
const firstOfLanes = sql`
  SELECT d.id FROM webhook_deliveries d
  WHERE d.webhook_id = ${"webhookId"} AND d.state = 'pending' AND d.kind = 'event' AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries e
    WHERE e.webhook_id = d.webhook_id AND e.lane = d.lane AND e.state = 'pending' AND e.kind = 'event'
      AND e.seq < d.seq)`

export const deliveriesRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query
  const insertAll = insert("webhook_deliveries", newColumns)

  return {
    /** The deliveries of a webhook, newest first. */
    page: all(DeliveryRow)`
      SELECT ${columns} FROM webhook_deliveries WHERE webhook_id = ${"webhookId"} AND id < ${"before"}
      ORDER BY id DESC LIMIT ${"limit"}`,

    find: first(DeliveryRow)`
      SELECT ${columns} FROM webhook_deliveries WHERE webhook_id = ${"webhookId"} AND id = ${"id"}`,

    insert: (deliveries: ReadonlyArray<NewDelivery>) =>
      insertAll(
        deliveries.map(({ nextAt, now, webhookId, ...rest }) => ({
          ...rest,
          webhook_id: webhookId,
          state: "pending",
          tries: 0,
          next_at: nextAt,
          created_at: now,
          updated_at: now
        }))
      ),

    /** The enabled webhooks that have not come to the head of their log. */
    behind: all(BehindRow)`
      SELECT w.id AS id, w.org_id AS org_id, o.name AS org_name, w.events AS events, w.environments AS environments,
        w.seq AS seq, h.seq AS head
      FROM webhooks w JOIN organizations o ON o.id = w.org_id AND o.removed_at IS NULL
      JOIN audit_heads h ON h.log = w.org_id AND h.seq <> w.seq
      WHERE w.removed_at IS NULL AND w.enabled = 1 ORDER BY w.id`,

    pending: one(CountRow)`
      SELECT count(*) AS count FROM webhook_deliveries
      WHERE webhook_id = ${"webhookId"} AND state = 'pending' AND kind = 'event'`,

    /** Moves a webhook in its log. No row if it was moved or disabled since it was read. */
    move: returning(IdRow)`
      UPDATE webhooks SET seq = ${"to"}
      WHERE id = ${"id"} AND seq = ${"from"} AND enabled = 1 AND removed_at IS NULL RETURNING id`,

    inLane: first(IdRow)`
      SELECT id FROM webhook_deliveries
      WHERE webhook_id = ${"webhookId"} AND lane = ${"lane"} AND state = 'pending' AND kind = 'event' LIMIT 1`,

    dueWebhooks: all(DueWebhookRow)`
      SELECT DISTINCT d.webhook_id AS webhook_id, w.org_id AS org_id
      FROM webhook_deliveries d ${usingIndex("webhook_deliveries_due")} ${sendable}`,

    due: all(idRow(WebhookDeliveryId))`
      SELECT d.id AS id FROM webhook_deliveries d ${usingIndex("webhook_deliveries_next")}
      ${sendable} AND d.webhook_id = ${"webhookId"} ORDER BY d.next_at, d.id LIMIT ${"limit"}`,

    /** A delivery with what its request takes. No row if it may not be sent any more. */
    toSend: first(DueRow)`
      SELECT d.id AS id, d.webhook_id AS webhook_id, d.kind AS kind, d.lane AS lane, d.body AS body, d.tries AS tries,
        w.url AS url, w.format AS format, w.key_number AS key_number, w.old_key_until AS old_key_until
      FROM webhook_deliveries d ${sendable} AND d.id = ${"id"}`,

    /** Records a try. No row if the delivery was skipped or its retries were reset meanwhile. */
    settle: returning(IdRow)`
      UPDATE webhook_deliveries SET state = ${"state"}, tries = ${"tries"}, status = ${"status"},
        reason = ${"reason"}, next_at = ${"nextAt"}, updated_at = ${"now"}
      WHERE id = ${"id"} AND state = 'pending' AND tries = ${"before"} RETURNING id`,

    /** Schedules the next delivery of a lane. */
    scheduleNext: write`
      UPDATE webhook_deliveries SET next_at = ${"now"} WHERE next_at IS NULL AND id = (
        SELECT id FROM webhook_deliveries
        WHERE webhook_id = ${"webhookId"} AND lane = ${"lane"} AND state = 'pending' AND kind = 'event'
        ORDER BY seq LIMIT 1)`,

    /** Reopens the failed deliveries of a webhook, with all their tries. */
    reopen: write`
      UPDATE webhook_deliveries SET state = 'pending', tries = 0, next_at = ${"now"}, updated_at = ${"now"}
      WHERE webhook_id = ${"webhookId"} AND state = 'failed' AND kind = 'event'`,

    /** Resets retries and schedules them now. */
    resetRetries: write`
      UPDATE webhook_deliveries SET tries = 0, next_at = ${"now"}, updated_at = ${"now"}
      WHERE webhook_id = ${"webhookId"} AND state = 'pending' AND kind = 'event' AND next_at IS NOT NULL`,

    /** Schedules the first delivery of each lane. */
    scheduleNextOfAll: write`
      UPDATE webhook_deliveries SET next_at = ${"now"} WHERE next_at IS NULL AND id IN (${firstOfLanes})`,

    skipPending: write`${skipped} WHERE webhook_id = ${"webhookId"} AND state = 'pending' AND kind = 'event'`,

    skipFailed: write`${skipped} WHERE webhook_id = ${"webhookId"} AND state = 'failed' AND kind = 'event'`,

    skipAll: write`${skipped} WHERE state IN ('pending', 'failed')`,

    /** When the oldest event was made that an enabled webhook waits for: one of the first of their lanes. */
    oldest: one(OldestRow)`
      SELECT min(d.created_at) AS oldest FROM webhook_deliveries d ${usingIndex("webhook_deliveries_due")}
      ${ofLiveWebhook} AND w.enabled = 1 WHERE d.state = 'pending' AND d.next_at IS NOT NULL`
  } as const
})
