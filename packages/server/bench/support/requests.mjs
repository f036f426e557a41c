import { ratioOf } from "./load.mjs"

/** The reference whose processor time regressions are measured against. */
export const handWritten = "hand-written server"

/** One read per secret of a scenario. */
export const readsOf = ({ env, key, keys }) =>
  keys.map((name) => ({ path: `${env}/secrets/${name}`, headers: { "x-api-key": key } }))

/** One write per secret. */
export const writesOf = (scene) =>
  readsOf(scene).map(({ headers, path }, index) => ({
    method: "PUT",
    path,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ value: `another value ${index}`.padEnd(32, "x") })
  }))

/** All secrets of an environment in one request. */
export const bundleOf = ({ env, key }) => [{ path: `${env}/bundle`, headers: { "x-api-key": key } }]

const whole = (number) => Math.round(number).toLocaleString("en")

/** Formats the result of a load for the table: what a request costs, and beside it what depends on the machine. */
export const perRequest = ({ commits = 0, cpu, databaseCpu, p99, rate, walBytes }) =>
  [
    `${whole(cpu)} µs${databaseCpu === undefined ? "" : ` and ${whole(databaseCpu)} of the database`}`,
    `${whole(rate)}/s`,
    `p99 ${p99.toFixed(1)} ms`,
    ...(commits > 1 ? [`${whole(commits)} commits/s, ${(walBytes / 1000).toFixed(1)} KB of log`] : [])
  ].join(", ")

/** A row of the table: the processor time of a request against another's, `times` requests for one. */
export const compared = (row, against, ours, theirs, { atLeast = false, kind, target, times = 1 } = {}) => {
  const ratio = ratioOf(ours, theirs) / times
  return {
    row,
    against,
    measured: perRequest(ours),
    base: perRequest(theirs),
    ratio,
    ...(against === handWritten && { processor: ratio }),
    // The row of counted figures that belongs to this one.
    ...(kind !== undefined && { kind }),
    target,
    atLeast
  }
}
