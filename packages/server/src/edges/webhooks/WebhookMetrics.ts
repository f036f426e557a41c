import type { DeliveryReason } from "@coffer/domain/Webhook"
import { Metric } from "effect"

/** How a try ended: `failed` are those that are tried again, `disabled` the last ones. */
export const tryResults = ["delivered", "failed", "disabled"] as const
export type TryResult = (typeof tryResults)[number]

const tries = Metric.counter("coffer_webhook_deliveries_total", { incremental: true })

export const deliveryTries = (result: TryResult): Metric.Metric.Counter<number> =>
  Metric.tagged(tries, "result", result)

const failures = Metric.counter("coffer_webhook_failures_total", { incremental: true })

export const deliveryFailures = (reason: DeliveryReason): Metric.Metric.Counter<number> =>
  Metric.tagged(failures, "reason", reason)

/** When the oldest event was made that waits for its delivery, in milliseconds since 1970; 0 if none does. */
export const oldestPending = Metric.gauge("coffer_webhook_oldest_pending")
