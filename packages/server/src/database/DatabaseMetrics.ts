import { Metric } from "effect"

/** Attempts at transactions that followed a deadlock or a serialization failure. */
export const retriedTransactions = Metric.counter("coffer_database_retries_total", { incremental: true })

/** Connections that were closed because they were lost, or left in an unknown state. */
export const lostConnections = Metric.counter("coffer_database_connections_lost_total", { incremental: true })
