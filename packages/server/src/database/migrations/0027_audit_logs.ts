import type { Migration } from "../Migration.js"

/**
 * The list of audit logs, so that a log is missed that was removed with all of its rows. A log is listed with its first entry;
 * the next start lists those that exist. `chain` is a link as that of an entry. The wrapped key `check` holds the list's end.
 */
export const auditLogs: Migration = {
  name: "audit_logs",
  statements: [
    `CREATE TABLE audit_logs (
    number INTEGER NOT NULL,
    log TEXT NOT NULL,
    created_at TEXT NOT NULL,
    chain TEXT NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (log)
  ) STRICT`,
    {
      sqlite: `CREATE TRIGGER audit_logs_no_update BEFORE UPDATE ON audit_logs
    BEGIN SELECT RAISE(ABORT, 'the list of audit logs only grows'); END`
    },
    {
      sqlite: `CREATE TRIGGER audit_logs_no_delete BEFORE DELETE ON audit_logs
    BEGIN SELECT RAISE(ABORT, 'the list of audit logs only grows'); END`
    },
    {
      postgres: `CREATE FUNCTION audit_logs_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the list of audit logs only grows';
    END $$`
    },
    {
      postgres: `CREATE TRIGGER audit_logs_no_change BEFORE UPDATE OR DELETE ON audit_logs
    FOR EACH ROW EXECUTE FUNCTION audit_logs_only_grow()`
    },
    {
      postgres: `CREATE TRIGGER audit_logs_no_truncate BEFORE TRUNCATE ON audit_logs
    FOR EACH STATEMENT EXECUTE FUNCTION audit_logs_only_grow()`
    }
  ]
}
