import { deliveryReasons } from "@coffer/domain/server/Webhook"
import * as Metric from "effect/Metric"
import { counters } from "../../base/Metrics.js"

/** How a try ended: `failed` are those that are tried again, `disabled` the last ones. */
export const tryResults = ["delivered", "failed", "disabled"] as const
export type TryResult = (typeof tryResults)[number]

export const deliveryTries = counters(
  "coffer_webhook_deliveries_total",
  "Tries to deliver events to webhooks, by result",
  "result",
  tryResults
)

export const deliveryFailures = counters(
  "coffer_webhook_failures_total",
  "Tries to deliver events to webhooks that failed, by reason",
  "reason",
  deliveryReasons
)

/** When the oldest event was made that waits for its delivery, in milliseconds since 1970; 0 if none does. */
export const oldestPending = Metric.gauge("webhook_oldest_pending_millis")
