import type { Migration } from "../Migration.js"

/**
 * The search index gets what four indexes of the entries and the tables of totals had, so that an append does not pay for it: the
 * place '' of each log stands for the whole log, and that of the log '' for all logs. There, the actor '' stands for all actors.
 * The index is emptied, and the next start builds it again in batches, before it serves. An older server that still runs cannot
 * add to the index without the table of counters, and serves all but searches with filters: it need not refuse.
 */
export const auditRuns: Migration = {
  name: "audit_runs",
  statements: [
    // Freed pages are not overwritten: the index names keys and actors, as the entries do, and holds no value.
    { sqlite: "PRAGMA secure_delete = FAST" },
    "DROP INDEX audit_entries_by_kind",
    "DROP INDEX audit_entries_by_actor",
    "DROP INDEX audit_entries_of_kind",
    "DROP INDEX audit_entries_of_actor",
    { postgres: "DROP VIEW audit_totals" },
    "DROP TABLE audit_counters",
    { sqlite: "DROP TABLE audit_totals" },
    { postgres: "DROP TABLE audit_log_totals" },
    { postgres: "DROP FUNCTION audit_log_totals_follow" },
    { sqlite: "DELETE FROM audit_postings", postgres: "TRUNCATE audit_postings" },
    "DELETE FROM audit_place_counters",
    "DELETE FROM audit_indexed",
    { sqlite: "PRAGMA secure_delete = ON" }
  ]
}
