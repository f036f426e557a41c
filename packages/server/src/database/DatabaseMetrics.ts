import { counter } from "../base/Metrics.js"

/** Attempts at transactions that followed a deadlock or a serialization failure. */
export const retriedTransactions = counter(
  "coffer_database_retries_total",
  "Transactions that were run again after a deadlock or a serialization failure"
)

/** Connections that were closed because they were lost, or left in an unknown state. */
export const lostConnections = counter(
  "coffer_database_connections_lost_total",
  "Connections to PostgreSQL that were lost"
)
