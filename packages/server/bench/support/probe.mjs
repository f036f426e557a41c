/** Loaded into the measured server: reports event-loop stalls, memory and garbage collections. Costs nothing until it is asked. */
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

let delay
/** The longest stall since the last query; the first query starts the monitor. */
const longestStall = () => {
  if (delay === undefined) {
    delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    return 0
  }
  const longest = delay.max / 1e6
  delay.reset()
  return longest
}

let collections
const countCollections = () => {
  if (collections === undefined) {
    collections = 0
    new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({ entryTypes: ["gc"] })
  }
  return collections
}

const collect = () => {
  setFlagsFromString("--expose-gc")
  // Twice: finalizers that run after the first collection may free more memory.
  const run = runInNewContext("gc")
  run()
  run()
  return process.memoryUsage().heapUsed / 2 ** 20
}

if (process.send !== undefined) {
  process.on("message", (name) => {
    if (name === "stall") process.send(longestStall())
    if (name === "heap") process.send({ collections: countCollections(), used: process.memoryUsage().heapUsed })
    if (name === "collect") process.send(collect())
  })
  process.channel.unref()
}
