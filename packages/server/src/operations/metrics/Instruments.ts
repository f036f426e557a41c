import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import { stat } from "node:fs/promises"
import { collectDefaultMetrics, Registry } from "prom-client"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { standardError } from "../../base/logging/LogSink.js"
import { counter, gauge, gauges, render } from "../../base/Metrics.js"
import { Database, type PoolState } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { oldestPending } from "../../edges/webhooks/WebhookMetrics.js"
import { certificateEnd } from "../../http/Renewal.js"
import { newestBackup } from "../backups/BackupMetrics.js"
import { requestObserver } from "./RequestMetrics.js"

// The values of these are read when the page is asked for.
const oldestDelivery = gauge(
  "coffer_webhook_oldest_pending_seconds",
  "Age of the oldest event that an enabled webhook waits for, on the server that sends them"
)
const queued = gauge("coffer_audit_queue_depth", "Audit entries of reads in the queue")
const dropped = counter(
  "coffer_log_lines_dropped_total",
  "Log lines that were dropped because standard error was not read in time"
)
const broken = counter(
  "coffer_audit_breaks_total",
  "Recorded breaks of audit logs: the head and the last entry did not match"
)
const fileSize = gauge("coffer_database_size_bytes", "Size of the database file")
const walSize = gauge("coffer_database_wal_size_bytes", "Size of the write-ahead log")
const connections = gauges<keyof PoolState>(
  "coffer_database_connections",
  "Connections of the pool, used or idle, and requests that wait for one; only with PostgreSQL",
  "state"
)
const backupAge = gauge("coffer_backup_age_seconds", "Age of this instance's newest backup; absent while none is known")

const certificateExpiry = gauge(
  "coffer_tls_certificate_expiry_seconds",
  "Time until the certificate in use expires; absent without SERVICE_TLS_CERT_FILE"
)

const valueOf = (metric: Metric.Metric.Gauge<number>) => Effect.map(Metric.value(metric), ({ value }) => value)

/** Lets a counter show a number that is counted elsewhere. */
const raiseTo = (metric: Metric.Metric.Counter<number>, value: number) =>
  Effect.flatMap(Metric.value(metric), ({ count }) => Metric.incrementBy(metric, value - count))

const sizeOf = (path: string): Effect.Effect<number> =>
  Effect.orElseSucceed(
    Effect.map(
      Effect.tryPromise(() => stat(path)),
      ({ size }) => size
    ),
    () => NaN
  )

const BreaksRow = Schema.Struct({ breaks: Schema.Number })

/** The server's metrics: `observe` counts a request, and `scrape` returns them in Prometheus' text format. */
export const makeInstruments = Effect.gen(function* () {
  const { backups, dbPath } = yield* ServerConfig
  const audit = yield* AuditLog
  const { pool } = yield* Database
  const { one } = yield* query
  const breaks = one(BreaksRow)`
    SELECT coalesce(sum(k.entries), 0) AS breaks FROM audit_places p JOIN audit_place_counters k ON k.place = p.id
    WHERE p.log = '' AND k.actor_id = '' AND k.action = 'audit.break'`
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const observe = requestObserver(registry)

  const ageOf = (millis: number, otherwise: number) =>
    millis === 0
      ? Effect.succeed(otherwise)
      : Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, now - millis) / 1000)

  const read = Effect.gen(function* () {
    yield* Metric.set(oldestDelivery, yield* ageOf(yield* valueOf(oldestPending), 0))
    yield* Metric.set(backupAge, yield* ageOf(yield* valueOf(newestBackup), NaN))
    const end = yield* valueOf(certificateEnd)
    yield* Metric.set(certificateExpiry, end === 0 ? NaN : (end - (yield* Clock.currentTimeMillis)) / 1000)
    yield* Metric.set(queued, yield* audit.queued)
    yield* raiseTo(dropped, standardError.dropped())
    yield* raiseTo(broken, (yield* breaks({})).breaks)
    yield* Metric.set(fileSize, yield* sizeOf(dbPath))
    yield* Metric.set(walSize, yield* sizeOf(`${dbPath}-wal`))
    const { idle = NaN, used = NaN, waiting = NaN } = pool?.() ?? {}
    yield* Metric.set(connections("used"), used)
    yield* Metric.set(connections("idle"), idle)
    yield* Metric.set(connections("waiting"), waiting)
  })

  const scrape = Effect.gen(function* () {
    yield* read
    const text = yield* Effect.promise(() => registry.metrics())
    const own = render((name) => backups === null && name.startsWith("coffer_backup"))
    // The library writes `Nan`, which Prometheus does not accept.
    return `${own}${text.replace(/ Nan$/gm, " NaN")}`
  })

  return { observe, scrape, contentType: registry.contentType }
})
