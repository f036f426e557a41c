import { Metric } from "effect"
import { outboundReasons, type OutboundReason } from "../../base/outbound/Outbound.js"
import { withheldKinds, type Withheld } from "./Answer.js"

/** Requests with secrets that left. */
export const usesMade = Metric.counter("coffer_uses_total", { incremental: true })

/**
 * Why a request did not leave. An increase of `request` and `rule` shows a misled agent or a rule that is too narrow, one of
 * `budget` and `concurrency` (requests that run at the same time) a loop or a budget that is too small.
 */
export const refusalReasons = ["request", "rule", "budget", "concurrency", "approval"] as const
export type RefusalReason = (typeof refusalReasons)[number]

const refusals = Metric.counter("coffer_use_refusals_total", { incremental: true })

export const useRefusals = (reason: RefusalReason): Metric.Metric.Counter<number> =>
  Metric.tagged(refusals, "reason", reason)

/** Why a request was not answered, or why its answer is withheld. */
export type UpstreamReason = OutboundReason | Withheld
export const upstreamReasons: ReadonlyArray<UpstreamReason> = [...outboundReasons, ...withheldKinds]

const failures = Metric.counter("coffer_use_upstream_failures_total", { incremental: true })

export const upstreamFailures = (reason: UpstreamReason): Metric.Metric.Counter<number> =>
  Metric.tagged(failures, "reason", reason)
