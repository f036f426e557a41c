import type { Migration } from "../Migration.js"

/** Whether a copy of an entry `OLD` is in an archive, and the log goes on behind it. */
const isArchived = `EXISTS (
      SELECT 1 FROM audit_archives a JOIN audit_heads h ON h.log = a.log
      WHERE a.log = OLD.log AND a.last_seq >= OLD.seq AND h.seq > OLD.seq)`

/**
 * Archives of audit logs. `audit_archives` has a row for each file, which is inserted once the file was read back and verified.
 * `audit_starts` holds the last entry that left a log: its link authenticates the first one that remains, and `mac` the row.
 * Entries stay immutable, with one exception: the database lets one go whose archive has a row. On PostgreSQL, a role of servers
 * that may not delete entries removes them by a function of the tables' owner, which lets only such entries go. An older server
 * that still runs verifies no log from which entries left: it reports the first ones as missing.
 */
export const auditArchives: Migration = {
  name: "audit_archives",
  statements: [
    `CREATE TABLE audit_starts (
    log TEXT NOT NULL,
    seq INTEGER NOT NULL,
    chain TEXT NOT NULL,
    mac TEXT NOT NULL,
    PRIMARY KEY (log)
  ) STRICT`,
    `CREATE TABLE audit_archives (
    id TEXT NOT NULL,
    log TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    chain TEXT NOT NULL,
    name TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    archived_at TEXT NOT NULL,
    PRIMARY KEY (id)
  ) STRICT`,
    "CREATE UNIQUE INDEX audit_archives_by_log ON audit_archives (log, last_seq)",
    { sqlite: "DROP TRIGGER audit_entries_no_delete" },
    {
      sqlite: `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
    WHEN NOT ${isArchived}
    BEGIN SELECT RAISE(ABORT, 'audit entries are immutable'); END`
    },
    { postgres: "DROP TRIGGER audit_entries_no_change ON audit_entries" },
    {
      postgres: `CREATE TRIGGER audit_entries_no_change BEFORE UPDATE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION audit_entries_are_immutable()`
    },
    {
      postgres: `CREATE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT ${isArchived} THEN
        RAISE EXCEPTION 'audit entries are immutable';
      END IF;
      RETURN OLD;
    END $$`
    },
    {
      postgres: `CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION audit_entries_stay()`
    },
    {
      postgres: `CREATE FUNCTION audit_entries_leave(of_log TEXT, after_seq BIGINT, to_seq BIGINT) RETURNS void
    LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DELETE FROM audit_entries WHERE log = of_log COLLATE "C" AND seq > after_seq AND seq <= to_seq
    $$`
    }
  ]
}
