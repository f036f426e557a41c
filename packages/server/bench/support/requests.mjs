/** A read of each secret of a scene. */
export const readsOf = ({ env, key, keys }) =>
  keys.map((name) => ({ path: `${env}/secrets/${name}`, headers: { "x-api-key": key } }))

/** A write of each. */
export const writesOf = (scene) =>
  readsOf(scene).map(({ headers, path }, index) => ({
    method: "PUT",
    path,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ value: `another value ${index}`.padEnd(32, "x") })
  }))

/** What a load was answered, for the table. */
export const perSecond = ({ cpu, p99, rate }) => `${rate.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms, ${cpu.toFixed(0)} µs`
