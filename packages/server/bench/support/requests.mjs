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

/** Formats the result of a load for the table. */
export const perSecond = ({ cpu, p99, rate }) => `${rate.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms, ${cpu.toFixed(0)} µs`

/** A row of the table: a load against another one. `processor` is the ratio of the processor times of a request. */
export const compared = (row, against, ours, theirs, target) => ({
  row,
  against,
  measured: perSecond(ours),
  base: perSecond(theirs),
  ratio: ratioOf(ours, theirs),
  ...(against === handWritten && { processor: ratioOf(ours, theirs, "cpu") }),
  target,
  atLeast: true
})
