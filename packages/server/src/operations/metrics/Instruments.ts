import { dueStates } from "@coffer/domain/Due"
import { deliveryReasons } from "@coffer/domain/Webhook"
import type { MetricState } from "effect"
import { Clock, Effect, Metric, Schema } from "effect"
import { stat } from "node:fs/promises"
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client"
import { AuditLog } from "../../audit/AuditLog.js"
import { auditFailures } from "../../audit/GroupAppends.js"
import { streamFailures } from "../../audit/StreamTarget.js"
import { lockouts, loginFailures, loginRefusals } from "../../directory/login/Login.js"
import {
  backupsFailed,
  backupsMade,
  drillResult,
  drillSeconds,
  drillTime,
  lastResult,
  newestBackup
} from "../backups/BackupMetrics.js"
import { ServerConfig } from "../../base/Config.js"
import { Database } from "../../database/Database.js"
import { lostConnections, retriedTransactions } from "../../database/DatabaseMetrics.js"
import { query } from "../../database/Query.js"
import { countsDue, secretsDue } from "../../secrets/dues/DueMetrics.js"
import { jobNames, jobOutcomes, jobRuns } from "../../database/jobs/JobMetrics.js"
import { exchangeFailures, exchangeRefusals } from "../../directory/federations/Exchange.js"
import { decryptionFailures } from "../../keys/Keyring.js"
import { standardError } from "../../base/logging/LogSink.js"
import { mailFailures } from "../../base/mail/Mailer.js"
import {
  refusalReasons,
  upstreamFailures,
  upstreamReasons,
  useRefusals,
  usesMade
} from "../../secrets/use/UseMetrics.js"
import { deliveryFailures, deliveryTries, oldestPending, tryResults } from "../../edges/webhooks/WebhookMetrics.js"
import { requestObserver } from "./RequestMetrics.js"

const count = (counter: Metric.Metric.Counter<number>): Effect.Effect<number> =>
  Effect.map(Metric.value(counter), ({ count }: MetricState.MetricState.Counter<number>) => count)

const counterOf = (registry: Registry, name: string, help: string) => {
  const counter = new Counter({ name, help, registers: [registry] })
  return (value: number) => {
    counter.reset()
    counter.inc(value)
  }
}

/** A counter with a label whose values are a fixed set. All of them are there from the start, so that `increase` sees the first. */
const countersOf = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  labels: ReadonlyArray<Label>,
  metricOf: (label: Label) => Metric.Metric.Counter<number>
): Effect.Effect<void> => {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] })
  return Effect.suspend(() => {
    counter.reset()
    return Effect.forEach(
      labels,
      (one) => Effect.map(count(metricOf(one)), (value) => counter.inc({ [label]: one.replaceAll(" ", "_") }, value)),
      { discard: true }
    )
  })
}

/** A gauge that is absent from the page while its value is null. */
const gaugeOf = (registry: Registry, name: string, help: string) => {
  const gauge = new Gauge({ name, help, registers: [registry] })
  return (value: number | null) => {
    if (value === null) gauge.remove()
    else gauge.set(value)
  }
}

const level = (gauge: Metric.Metric.Gauge<number>): Effect.Effect<number> =>
  Effect.map(Metric.value(gauge), ({ value }: MetricState.MetricState.Gauge<number>) => value)

const sizeOf = (path: string): Effect.Effect<number | null> =>
  Effect.orElseSucceed(
    Effect.map(
      Effect.tryPromise(() => stat(path)),
      ({ size }) => size
    ),
    () => null
  )

const BreaksRow = Schema.Struct({ breaks: Schema.Number })

/** The server's metrics: `observe` counts a request, and `scrape` returns them in Prometheus' text format. */
export const makeInstruments = Effect.gen(function* () {
  const { backups, dbPath } = yield* ServerConfig
  const audit = yield* AuditLog
  const { pool } = yield* Database
  const { one } = yield* query
  const breaks = one(BreaksRow)`
    SELECT coalesce(sum(entries), 0) AS breaks FROM audit_totals
    WHERE log = '' AND actor_id = '' AND action = 'audit.break'`
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const observe = requestObserver(registry)

  const failedLogins = counterOf(
    registry,
    "coffer_login_failures_total",
    "Verifications with a code that was wrong, used, expired or never requested, for all addresses"
  )
  const locked = counterOf(registry, "coffer_login_lockouts_total", "Addresses that failed ten times within an hour")
  const refused = counterOf(
    registry,
    "coffer_login_refusals_total",
    "Code requests over a rate limit, and verifications for locked-out addresses"
  )
  const failedExchanges = counterOf(
    registry,
    "coffer_federation_failures_total",
    "Tokens of machines that were refused, for all accounts"
  )
  const refusedExchanges = counterOf(
    registry,
    "coffer_federation_refusals_total",
    "Tokens of machines that were not looked at, because of the rate limit"
  )
  const made = counterOf(registry, "coffer_uses_total", "Requests with secrets that the server made")
  const readRefusedUses = countersOf(
    registry,
    "coffer_use_refusals_total",
    "Requests with secrets that did not leave, by reason",
    "reason",
    refusalReasons,
    useRefusals
  )
  const readFailedUses = countersOf(
    registry,
    "coffer_use_upstream_failures_total",
    "Requests with secrets that were not answered, or whose answer was withheld, by reason",
    "reason",
    upstreamReasons,
    upstreamFailures
  )
  const readDeliveries = countersOf(
    registry,
    "coffer_webhook_deliveries_total",
    "Tries to deliver events to webhooks, by result",
    "result",
    tryResults,
    deliveryTries
  )
  const readFailedDeliveries = countersOf(
    registry,
    "coffer_webhook_failures_total",
    "Tries to deliver events to webhooks that failed, by reason",
    "reason",
    deliveryReasons,
    deliveryFailures
  )
  const oldestDelivery = gaugeOf(
    registry,
    "coffer_webhook_oldest_pending_seconds",
    "Age of the oldest event that an enabled webhook waits for, on the server that sends them"
  )
  const unmailed = counterOf(
    registry,
    "coffer_mail_failures_total",
    "Login codes, invitations and reminders that the mail server did not accept"
  )
  const queued = gaugeOf(registry, "coffer_audit_queue_depth", "Audit entries of reads in the queue")
  const unwritten = counterOf(
    registry,
    "coffer_audit_write_failures_total",
    "Audit entries that were lost: the database refused them, or the server ended first"
  )
  const unstreamed = counterOf(
    registry,
    "coffer_audit_stream_failures_total",
    "Failed attempts to write to the audit stream"
  )
  const unlogged = counterOf(
    registry,
    "coffer_log_lines_dropped_total",
    "Log lines that were dropped because standard error was not read in time"
  )
  const broken = counterOf(
    registry,
    "coffer_audit_breaks_total",
    "Recorded breaks of audit logs: the head and the last entry did not match"
  )
  const undecrypted = counterOf(
    registry,
    "coffer_decryption_failures_total",
    "Secrets and backups that failed to decrypt"
  )
  const database = gaugeOf(registry, "coffer_database_size_bytes", "Size of the database file")
  const wal = gaugeOf(registry, "coffer_database_wal_size_bytes", "Size of the write-ahead log")
  const connections = new Gauge({
    name: "coffer_database_connections",
    help: "Connections of the pool, used or idle, and requests that wait for one; only with PostgreSQL",
    labelNames: ["state"],
    registers: [registry]
  })
  const retried = counterOf(
    registry,
    "coffer_database_retries_total",
    "Transactions that were run again after a deadlock or a serialization failure"
  )
  const lost = counterOf(registry, "coffer_database_connections_lost_total", "Connections to PostgreSQL that were lost")
  const due = new Gauge({
    name: "coffer_secrets_due",
    help: "Secrets that are overdue, or due within 14 days; only on the server that counts them",
    labelNames: ["state"],
    registers: [registry]
  })
  const runs = new Counter({
    name: "coffer_job_runs_total",
    help: "Runs of a job on this server: done, failed, released at the end of the server, or lost to another server",
    labelNames: ["name", "outcome"],
    registers: [registry]
  })

  const readDatabase = Effect.gen(function* () {
    const state = pool?.()
    if (state !== undefined) {
      connections.set({ state: "used" }, state.used)
      connections.set({ state: "idle" }, state.idle)
      connections.set({ state: "waiting" }, state.waiting)
    }
    retried(yield* count(retriedTransactions))
    lost(yield* count(lostConnections))
    due.reset()
    if ((yield* level(countsDue)) === 1) {
      for (const state of dueStates) due.set({ state }, yield* level(secretsDue(state)))
    }
    runs.reset()
    for (const name of jobNames) {
      for (const outcome of jobOutcomes) runs.inc({ name, outcome }, yield* count(jobRuns(name, outcome)))
    }
  })

  const aboutBackups =
    backups === null
      ? null
      : {
          made: counterOf(registry, "coffer_backups_total", "Backups that this process made"),
          failed: counterOf(registry, "coffer_backup_failures_total", "Backups that failed in this process"),
          age: gaugeOf(
            registry,
            "coffer_backup_age_seconds",
            "Age of this instance's newest backup; absent while none is known"
          ),
          result: gaugeOf(
            registry,
            "coffer_backup_last_result",
            "Whether the last backup succeeded: 1 or 0; absent before the first"
          ),
          drilled: gaugeOf(
            registry,
            "coffer_backup_drill_timestamp_seconds",
            "When the last drill found a good backup (Unix time); absent before the first"
          ),
          drillResult: gaugeOf(
            registry,
            "coffer_backup_drill_last_result",
            "Whether the last drill found a good backup: 1 or 0; absent before the first"
          ),
          drillSeconds: gaugeOf(
            registry,
            "coffer_backup_drill_duration_seconds",
            "Duration of the last drill; absent before the first"
          )
        }

  const readBackups = Effect.gen(function* () {
    if (aboutBackups === null) return
    aboutBackups.made(yield* count(backupsMade))
    aboutBackups.failed(yield* count(backupsFailed))
    const newest = yield* level(newestBackup)
    aboutBackups.age(newest === 0 ? null : Math.max(0, (yield* Clock.currentTimeMillis) - newest) / 1000)
    const last = yield* level(lastResult)
    aboutBackups.result(last === 0 ? null : Math.max(0, last))
    const drilled = yield* level(drillTime)
    aboutBackups.drilled(drilled === 0 ? null : drilled / 1000)
    const result = yield* level(drillResult)
    aboutBackups.drillResult(result === 0 ? null : Math.max(0, result))
    aboutBackups.drillSeconds(result === 0 ? null : yield* level(drillSeconds))
  })

  const scrape = Effect.gen(function* () {
    failedLogins(yield* count(loginFailures))
    locked(yield* count(lockouts))
    refused(yield* count(loginRefusals))
    failedExchanges(yield* count(exchangeFailures))
    refusedExchanges(yield* count(exchangeRefusals))
    made(yield* count(usesMade))
    yield* readRefusedUses
    yield* readFailedUses
    yield* readDeliveries
    yield* readFailedDeliveries
    const pending = yield* level(oldestPending)
    oldestDelivery(pending === 0 ? 0 : Math.max(0, (yield* Clock.currentTimeMillis) - pending) / 1000)
    unmailed(yield* count(mailFailures))
    queued(yield* audit.queued)
    unwritten(yield* count(auditFailures))
    unstreamed(yield* count(streamFailures))
    unlogged(standardError.dropped())
    broken((yield* breaks({})).breaks)
    undecrypted(yield* count(decryptionFailures))
    database(yield* sizeOf(dbPath))
    wal(yield* sizeOf(`${dbPath}-wal`))
    yield* readDatabase
    yield* readBackups
    const text = yield* Effect.promise(() => registry.metrics())
    // The library writes `Nan`, which Prometheus does not accept.
    return text.replace(/ Nan$/gm, " NaN")
  })

  return { observe, scrape, contentType: registry.contentType }
})
