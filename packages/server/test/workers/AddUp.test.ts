import { addUp } from "@coffer/server/operations/metrics/AddUp"
import { assert, describe, it } from "vitest"
import { parseExposition, valueOf } from "../observability/Exposition.js"

const page = (requests: number, depth: number, lag: number, age?: number): string =>
  [
    "# HELP coffer_http_requests_total Requests",
    "# TYPE coffer_http_requests_total counter",
    `coffer_http_requests_total{route="/health",status="200"} ${requests}`,
    ...(requests > 5 ? [`coffer_http_requests_total{route="/health",status="503"} 1`] : []),
    "# HELP coffer_audit_queue_depth Entries",
    "# TYPE coffer_audit_queue_depth gauge",
    `coffer_audit_queue_depth ${depth}`,
    "# HELP coffer_backup_age_seconds Age",
    "# TYPE coffer_backup_age_seconds gauge",
    ...(age === undefined ? [] : [`coffer_backup_age_seconds ${age}`]),
    "# HELP coffer_audit_breaks_total Breaks",
    "# TYPE coffer_audit_breaks_total counter",
    "coffer_audit_breaks_total 2",
    "# HELP nodejs_eventloop_lag_seconds Lag",
    "# TYPE nodejs_eventloop_lag_seconds gauge",
    `nodejs_eventloop_lag_seconds ${lag}`,
    "# HELP coffer_seconds Time",
    "# TYPE coffer_seconds histogram",
    `coffer_seconds_bucket{le="0.1"} ${requests}`,
    `coffer_seconds_bucket{le="+Inf"} ${requests}`,
    `coffer_seconds_sum ${requests / 10}`,
    `coffer_seconds_count ${requests}`,
    ""
  ].join("\n")

const health = (status: string) => ({ route: "/health", status })

describe("the page of a server with several processes", () => {
  it("has the sums of counters, histograms and parts, and the largest of what has no parts", () => {
    const all = parseExposition(addUp([page(3, 4, 0.25, 60), page(7, 1, 0.5), page(0, 0, 0.125, 20)]))
    assert.strictEqual(valueOf(all, "coffer_http_requests_total", health("200")), 10)
    assert.strictEqual(valueOf(all, "coffer_http_requests_total", health("503")), 1)
    assert.strictEqual(valueOf(all, "coffer_audit_queue_depth", {}), 5)
    assert.strictEqual(valueOf(all, "nodejs_eventloop_lag_seconds", {}), 0.5)
    assert.strictEqual(valueOf(all, "coffer_backup_age_seconds", {}), 20)
    assert.strictEqual(valueOf(all, "coffer_audit_breaks_total", {}), 2)
    assert.strictEqual(valueOf(all, "coffer_seconds_bucket", { le: "+Inf" }), 10)
    assert.strictEqual(valueOf(all, "coffer_seconds_sum", {}), 1)
  })

  it("keeps the counters of a process that has ended, and not its gauges", () => {
    const once = addUp([], ["", page(7, 5, 0.5)])
    const twice = addUp([], [once, page(2, 5, 0.5)])
    const all = parseExposition(addUp([page(1, 1, 0.25)], [twice]))
    assert.strictEqual(valueOf(all, "coffer_http_requests_total", health("200")), 10)
    assert.strictEqual(valueOf(all, "coffer_seconds_count", {}), 10)
    assert.strictEqual(valueOf(all, "coffer_audit_queue_depth", {}), 1)
    assert.strictEqual(valueOf(all, "nodejs_eventloop_lag_seconds", {}), 0.25)
  })

  it("of one process is its own", () => {
    assert.strictEqual(addUp([page(7, 1, 0.5, 3)]), page(7, 1, 0.5, 3))
  })
})
