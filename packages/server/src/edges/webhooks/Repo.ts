import { OrgId, WebhookId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { acceptedMember } from "../../access/place/PlaceRow.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"

const WebhookRow = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  events: Schema.String,
  environments: Schema.String,
  format: Schema.String,
  enabled: Schema.Number,
  failed_at: Schema.NullOr(Schema.String),
  pending: Schema.Number,
  /** Of the first delivery that was tried in vain: its time, tries, status, next try and reason, separated by spaces. */
  failing: Schema.NullOr(Schema.String),
  key_number: Schema.Number,
  old_key_until: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type WebhookRow = typeof WebhookRow.Type

const SeqRow = Schema.Struct({ seq: Schema.Number })
const AdminRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const DisabledRow = Schema.Struct({ org_id: OrgId, url: Schema.String })

const webhooks = sql`
  SELECT w.id AS id, w.url AS url, w.events AS events, w.environments AS environments, w.format AS format,
    w.enabled AS enabled, w.failed_at AS failed_at, w.key_number AS key_number, w.old_key_until AS old_key_until,
    w.created_by AS created_by, w.created_at AS created_at, w.updated_at AS updated_at,
    (SELECT count(*) FROM webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.kind = 'event') AS pending,
    (SELECT d.created_at || ' ' || CAST(d.tries AS TEXT) || ' ' || coalesce(CAST(d.status AS TEXT), '-') || ' ' ||
        coalesce(d.next_at, '-') || coalesce(' ' || d.reason, '')
      FROM webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.kind = 'event' AND d.tries > 0
      ORDER BY d.seq LIMIT 1) AS failing
  FROM webhooks w WHERE w.org_id = ${"orgId"} AND w.removed_at IS NULL`

const head = sql`coalesce((SELECT seq FROM audit_heads WHERE log = w.org_id), 0)`

export const webhooksRepo = Effect.gen(function* () {
  const { all, first, insert, locking, one, returning, write } = yield* query

  return {
    /** The webhooks of an organization, oldest first. */
    all: all(WebhookRow)`${webhooks} ORDER BY w.id`,

    find: first(WebhookRow)`${webhooks} AND w.id = ${"id"}`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM webhooks WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    headOf: first(SeqRow)`SELECT seq FROM audit_heads WHERE log = ${"log"}`,

    insert: insert("webhooks", [
      ...["id", "org_id", "url", "events", "environments", "format", "enabled", "seq", "key_number", "created_by"],
      ...["created_at", "updated_at"]
    ]),

    /** The addresses of an organization's owners, and then those of its admins, without users who are disabled or have not accepted. */
    admins: all(AdminRow)`
      SELECT u.email AS email FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
      WHERE m.org_id = ${"orgId"} AND ${acceptedMember} AND m.role IN ('owner', 'admin')
      ORDER BY CASE m.role WHEN 'owner' THEN 0 ELSE 1 END, u.email LIMIT ${"limit"}`,

    update: write`
      UPDATE webhooks SET url = ${"url"}, events = ${"events"}, environments = ${"environments"},
        format = ${"format"}, enabled = ${"enabled"}, failed_at = ${"failedAt"}, updated_at = ${"now"}
      WHERE id = ${"id"}`,

    setKey: write`
      UPDATE webhooks SET key_number = ${"number"}, old_key_until = ${"oldKeyUntil"}, updated_at = ${"now"}
      WHERE id = ${"id"}`,

    remove: write`UPDATE webhooks SET removed_at = ${"now"} WHERE id = ${"id"}`,

    /** Skips the entries until now. */
    skipEvents: write`
      UPDATE webhooks AS w SET seq = ${head} WHERE id = ${"id"}`,

    /** Disables a webhook whose delivery has failed for the last time. No row if it is disabled already. */
    fail: returning(DisabledRow)`
      UPDATE webhooks SET enabled = 0, failed_at = ${"now"}, updated_at = ${"now"}
      WHERE id = ${"id"} AND enabled = 1 AND removed_at IS NULL RETURNING org_id, url`,

    /** Locks a webhook for the transaction. The job of deliveries holds no organization. */
    lock: locking(idRow(WebhookId))`SELECT id FROM webhooks WHERE id = ${"id"}`,

    /** For a restored database, whose events the server that was backed up has sent. */
    skipEventsOfAll: write`UPDATE webhooks AS w SET seq = ${head}`
  } as const
})
