import type { DeliveryReason } from "@coffer/domain/server/Webhook"
import { originOf, WebhookEvent } from "@coffer/domain/server/Webhook"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { afterCommit } from "../../database/Database.js"
import { timestamp } from "../../base/Time.js"
import { Fence } from "../../database/jobs/Lease.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { signatureOf } from "../../base/outbound/Signature.js"
import { deliveriesRepo, type DueRow } from "./DeliveriesRepo.js"
import { formatOf, messageOf } from "./Formats.js"
import { Notices } from "./Notices.js"
import { webhooksRepo } from "./Repo.js"
import { maxTries, pauseAfter } from "./Retry.js"
import { SigningKeys } from "./SigningKeys.js"
import { deliveryFailures, deliveryTries, type TryResult } from "./WebhookMetrics.js"

const timeout = "10 seconds"
/** The response is not used: so much of it is read before the connection is closed. */
const maxBytes = 1024

const decodeEvent = Schema.decode(Schema.parseJson(WebhookEvent))

interface Outcome {
  readonly status: number | null
  /** Null if it was delivered. */
  readonly reason: DeliveryReason | null
}

/** Sends deliveries, and records what came of them. */
export const makeSender = Effect.gen(function* () {
  const outbound = yield* Outbound
  const repo = yield* deliveriesRepo
  const webhooks = yield* webhooksRepo
  const keys = yield* SigningKeys
  const notices = yield* Notices
  const audit = yield* AuditLog
  const fenced = yield* Fence

  const keysOf = Effect.fnUntraced(function* ({ key_number, old_key_until, webhook_id }: DueRow, millis: number) {
    const replaced = old_key_until !== null && old_key_until > timestamp(millis)
    const numbers = replaced ? [key_number, key_number - 1] : [key_number]
    const found = yield* Effect.forEach(numbers, (number) => Effect.orDie(keys.read(webhook_id, number)))
    const present = found.filter((key): key is Redacted.Redacted => key !== null)
    return present.length > 0 ? present : yield* Effect.dieMessage(`the webhook ${webhook_id} has no signing key`)
  })

  const post = Effect.fnUntraced(function* (row: DueRow) {
    const millis = yield* Clock.currentTimeMillis
    const event = yield* Effect.orDie(decodeEvent(row.body))
    const { body, headers } = messageOf(formatOf(row.format), event, row.body)
    const answer = outbound.request({
      url: row.url,
      method: "POST",
      headers: {
        ...headers,
        "user-agent": "Coffer-Webhook/1",
        "x-coffer-event": event.event,
        "x-coffer-event-id": event.id,
        "x-coffer-signature": signatureOf(yield* keysOf(row, millis), Math.floor(millis / 1000), body)
      },
      body,
      timeout,
      maxBytes
    })
    return yield* Effect.match(answer, {
      onFailure: ({ reason }): Outcome => ({ status: null, reason }),
      onSuccess: ({ status }): Outcome => ({ status, reason: status >= 200 && status < 300 ? null : "status" })
    })
  })

  /** Disables a webhook after the last try, and notifies the organization's admins by mail. */
  const disable = Effect.fnUntraced(function* (row: DueRow, { reason, status }: Outcome, now: string) {
    const [failed] = yield* webhooks.fail({ id: row.webhook_id, now })
    if (failed === undefined) return
    const { org_id, url } = failed
    yield* audit.change(systemSource("webhooks", org_id), {
      action: "webhook.disable",
      resource_type: "webhook",
      resource_id: row.webhook_id,
      metadata: { name: originOf(url), reason, status, tries: maxTries }
    })
    yield* afterCommit(notices.disabled({ orgId: org_id, id: row.webhook_id, origin: originOf(url), reason, status }))
  })

  const settle = Effect.fnUntraced(function* (row: DueRow, outcome: Outcome) {
    const { reason, status } = outcome
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    const tries = row.tries + 1
    const pause = row.kind === "event" ? yield* pauseAfter(tries) : null
    const state = reason === null ? "delivered" : pause === null ? "failed" : "pending"
    const nextAt = state === "pending" && pause !== null ? timestamp(millis + pause) : null
    const { id, lane, webhook_id: webhookId } = row
    return yield* fenced(
      Effect.gen(function* () {
        // A change of the webhook waits for this transaction, or this one for the change.
        yield* webhooks.lock({ id: webhookId })
        const recorded = yield* repo.settle({ id, state, tries, before: row.tries, status, reason, nextAt, now })
        if (recorded.length === 0 || row.kind !== "event") return
        if (state === "delivered") yield* repo.scheduleNext({ webhookId, lane, now })
        if (state === "failed") yield* disable(row, outcome, now)
      })
    ).pipe(Effect.as(state))
  })

  /** Sends a delivery once. If this process ends before the record, it is sent again. */
  return Effect.fnUntraced(function* (row: DueRow) {
    // Once there is a response, it is recorded, also if the server is being shut down.
    const [outcome, state] = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(post(row)), (outcome) =>
        Effect.map(settle(row, outcome), (state) => [outcome, state] as const)
      )
    )
    const result: TryResult =
      state === "delivered" ? state : state === "failed" && row.kind === "event" ? "disabled" : "failed"
    yield* Metric.increment(deliveryTries(result))
    if (outcome.reason !== null) yield* Metric.increment(deliveryFailures(outcome.reason))
  })
})
