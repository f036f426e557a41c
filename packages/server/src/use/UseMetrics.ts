import { Metric } from "effect"

/** Requests with secrets that left. */
export const usesMade = Metric.counter("coffer_uses_total", { incremental: true })
/** Requests with secrets that no rule or no budget allowed. An increase shows a misled agent, or a rule that is too narrow. */
export const useRefusals = Metric.counter("coffer_use_refusals_total", { incremental: true })
/** Requests that were not answered, or whose answer was withheld. */
export const upstreamFailures = Metric.counter("coffer_use_upstream_failures_total", { incremental: true })
