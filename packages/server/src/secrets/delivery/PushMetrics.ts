import { counters, gauge } from "../../base/Metrics.js"

/** The pushes that this server made by itself, and those that failed. */
export const pushesByItself = counters<"done" | "failed">(
  "coffer_pushes_total",
  "Pushes by the server itself to other platforms: done, or tries that failed",
  "outcome",
  ["done", "failed"]
)

export const targetsFailing = gauge(
  "coffer_targets_failing",
  "Targets of the server's own pushes where the last push failed, or that are stopped; only on the server that pushes"
)
