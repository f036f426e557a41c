/** Loaded into the measured server: reports event-loop stalls and memory. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

if (process.send !== undefined) {
  const resolution = 1
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  process.on("message", (name) => {
    if (name === "stall") {
      const longest = delay.max / 1e6
      delay.reset()
      process.send(longest)
    }
    if (name === "collect") {
      setFlagsFromString("--expose-gc")
      // Twice: finalizers that run after the first collection may free more memory.
      const collect = runInNewContext("gc")
      collect()
      collect()
      process.send(process.memoryUsage().heapUsed / 2 ** 20)
    }
  })
  process.channel.unref()
}
