import * as Metric from "effect/Metric"
import { counterFamily, listed } from "../../base/Metrics.js"

/** The jobs that one server does for all servers of a database. */
export const jobNames = [
  "tidy",
  "heads",
  "wraps",
  "backup",
  "stream",
  "webhooks",
  "expiry",
  "due",
  "rotations",
  "leases",
  "pushes",
  "unused",
  "trash",
  "archive"
] as const
export type JobName = (typeof jobNames)[number]

/** `released`: the server ended in the middle of it. `lost`: another server took over because the lease had passed. */
export const jobOutcomes = ["done", "failed", "released", "lost"] as const
export type JobOutcome = (typeof jobOutcomes)[number]

const runs = counterFamily(
  "coffer_job_runs_total",
  "Runs of a job on this server: done, failed, released at the end of the server, or lost to another server"
)

/** The runs of a job by this process that ended in a certain way. */
export const jobRuns = (name: JobName, outcome: JobOutcome): Metric.Metric.Counter<number> =>
  runs.pipe(Metric.tagged("name", name), Metric.tagged("outcome", outcome))

for (const name of jobNames) for (const outcome of jobOutcomes) listed(jobRuns(name, outcome))
