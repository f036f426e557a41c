import type { BackupCounts } from "@coffer/domain/server/Backup"
import type Sqlite from "better-sqlite3"

/** The numbers of entries that left logs for archives; none in a file from before there were archives. */
const left = (database: Sqlite.Database): string =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_starts'").get() === undefined
    ? "(SELECT NULL AS log, 0 AS seq)"
    : "audit_starts"

/** Checks of the rows: each statement returns rows only if the database has that fault. */
const faults = (starts: string): ReadonlyArray<readonly [what: string, statement: string]> => [
  [
    "an audit log whose entries do not match its head",
    `WITH expected AS (
      SELECT h.log, h.seq, h.seq - coalesce(s.seq, 0) AS entries FROM audit_heads h LEFT JOIN ${starts} s ON s.log = h.log),
    found AS (SELECT log, max(seq) AS seq, count(*) AS entries FROM audit_entries GROUP BY log)
    SELECT * FROM (SELECT * FROM expected EXCEPT SELECT * FROM found)
    UNION ALL SELECT * FROM (SELECT * FROM found EXCEPT SELECT * FROM expected)`
  ],
  [
    "an environment whose secret count is wrong",
    `SELECT e.id FROM environments e LEFT JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL
      GROUP BY e.id HAVING e.secret_count <> count(s.id)`
  ],
  ["a row with a dangling reference", "PRAGMA foreign_key_check"],
  ["a database without exactly one identity", "SELECT 1 WHERE (SELECT count(*) FROM instance) <> 1"]
]

const rowsOf = (database: Sqlite.Database, statement: string) => database.prepare<[], object>(statement).all()

/** Lists the faults of a database: damaged pages and indexes, or else inconsistent rows. */
export const faultsOf = (database: Sqlite.Database): ReadonlyArray<string> => {
  const integrity = database
    .prepare<[], { readonly integrity_check: string }>("PRAGMA integrity_check(5)")
    .all()
    .map((row) => row.integrity_check)
  return integrity.join() === "ok"
    ? faults(left(database))
        .filter(([, statement]) => rowsOf(database, statement).length > 0)
        .map(([what]) => what)
    : integrity
}

const counts = `
  WITH live_organizations AS (SELECT id FROM organizations WHERE removed_at IS NULL),
    live_projects AS (
      SELECT p.id FROM projects p JOIN live_organizations o ON o.id = p.org_id WHERE p.removed_at IS NULL),
    live_environments AS (
      SELECT e.id, e.secret_count FROM environments e JOIN live_projects p ON p.id = e.project_id
      WHERE e.removed_at IS NULL)
  SELECT (SELECT count(*) FROM live_organizations) AS organizations,
    (SELECT count(*) FROM live_projects) AS projects,
    (SELECT count(*) FROM live_environments) AS environments,
    (SELECT coalesce(sum(secret_count), 0) FROM live_environments) AS secrets,
    (SELECT count(*) FROM secret_versions WHERE destroyed_at IS NULL) AS versions,
    (SELECT coalesce(sum(seq), 0) FROM audit_heads) AS entries`

export const countsOf = (database: Sqlite.Database): BackupCounts | undefined =>
  database.prepare<[], BackupCounts>(counts).get()
