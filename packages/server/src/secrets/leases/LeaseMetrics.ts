import { counters, gauge } from "../../base/Metrics.js"

/** The ends of leases on this server: users that were removed, tries that failed, and users that were left. */
export const leaseEnds = counters<"failed" | "left" | "removed">(
  "coffer_lease_ends_total",
  "Ends of leases on this server: users that the database confirms as removed, tries that failed, or users left",
  "outcome",
  ["failed", "left", "removed"]
)

export const leaseOrphans = gauge(
  "coffer_lease_orphans",
  "Users in databases that leases made and no lease has, found once a day; only on the server that ends leases"
)

export const leasesLive = gauge(
  "coffer_leases",
  "Leases, with those whose users are not removed yet; only on the server that ends them"
)
