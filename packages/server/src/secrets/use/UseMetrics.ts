import { counter, counters } from "../../base/Metrics.js"
import { outboundReasons, type OutboundReason } from "../../base/outbound/Outbound.js"
import type { NotStored } from "./StoredFields.js"
import { withheldKinds, type Withheld } from "./UpstreamResponse.js"

/** Requests with secrets that left. */
export const usesMade = counter("coffer_uses_total", "Requests with secrets that the server made")

/**
 * Why a request did not leave. An increase of `request` and `rule` shows a misled agent or a rule that is too narrow, one of
 * `budget` and `concurrency` (requests that run at the same time) a loop or a budget that is too small.
 */
const refusalReasons = ["request", "rule", "budget", "concurrency", "approval"] as const
export type RefusalReason = (typeof refusalReasons)[number]

export const useRefusals = counters(
  "coffer_use_refusals_total",
  "Requests with secrets that did not leave, by reason",
  "reason",
  refusalReasons
)

/** Why a request got no response, or why its response is withheld. */
export type UpstreamReason = OutboundReason | Withheld | NotStored["reason"]
const upstreamReasons: ReadonlyArray<UpstreamReason> = [...outboundReasons, ...withheldKinds, "not stored"]

export const upstreamFailures = counters(
  "coffer_use_upstream_failures_total",
  "Requests with secrets that got no response, or whose response was withheld, by reason",
  "reason",
  upstreamReasons
)
