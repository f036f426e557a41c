import { Counter, Histogram, type Registry } from "prom-client"
import type { Observe } from "../../http/RequestObserver.js"

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Seconds. A read takes a millisecond, and a write, which waits for the disk, ten. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Counts requests. The number of label values is bounded: patterns of routes, methods of the contract, and statuses. */
export const requestObserver = (registry: Registry): Observe => {
  const requests = new Counter({
    name: "coffer_http_requests_total",
    help: "Requests, by the route's pattern, method and status",
    labelNames: ["method", "route", "status"],
    registers: [registry]
  })
  const durations = new Histogram({
    name: "coffer_http_request_duration_seconds",
    help: "Time from a request's head to its answer, by the route's pattern and method",
    labelNames: ["method", "route"],
    buckets,
    registers: [registry]
  })
  const children = new Map<string, { readonly count: Counter.Internal; readonly time: Histogram.Internal<string> }>()
  return (method, route, status, millis) => {
    const key = `${method} ${route ?? ""} ${status}`
    let child = children.get(key)
    if (child === undefined) {
      const labels = { method: methods.has(method) ? method : "other", route: route ?? "none" }
      child = { count: requests.labels({ ...labels, status: String(status) }), time: durations.labels(labels) }
      children.set(key, child)
    }
    child.count.inc()
    child.time.observe(millis / 1000)
  }
}
