import { counters, gauge } from "../../base/Metrics.js"

/** The ends of leases on this server: users that were removed, and tries that failed. */
export const leaseEnds = counters<"failed" | "removed">(
  "coffer_lease_ends_total",
  "Ends of leases on this server: users that the database confirms as removed, or tries that failed",
  "outcome",
  ["failed", "removed"]
)

export const leasesLive = gauge(
  "coffer_leases",
  "Leases, with those whose users are not removed yet; only on the server that ends them"
)
