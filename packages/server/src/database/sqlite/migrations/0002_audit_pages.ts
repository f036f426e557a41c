import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Makes a page of the audit trail cost the same for any log size and filter. Entries of one actor, action and resource
 * type are adjacent in an index; a page merges these runs. Triggers keep the totals of the counters over all logs
 * (`log` is '') or all actors (`actor_id` is '').
 */
const statements = [
  `DROP INDEX audit_entries_by_action`,
  `DROP INDEX audit_entries_by_actor`,
  `DROP INDEX audit_entries_by_resource`,
  `DROP INDEX audit_entries_of_action`,
  `DROP INDEX audit_entries_of_actor`,
  `DROP INDEX audit_entries_of_resource`,
  `CREATE INDEX audit_entries_by_kind ON audit_entries (log, action, resource_type, seq)`,
  `CREATE INDEX audit_entries_by_actor ON audit_entries (log, actor_id, action, resource_type, seq)`,
  // Each index ends with the position, which is the rowid.
  `CREATE INDEX audit_entries_of_kind ON audit_entries (action, resource_type)`,
  `CREATE INDEX audit_entries_of_actor ON audit_entries (actor_id, action, resource_type)`,

  `CREATE TABLE audit_totals (
    log TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (log, actor_id, action, resource_type),
    CHECK (log = '' OR actor_id = '')
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO audit_totals (log, actor_id, action, resource_type, entries)
    SELECT log, '', action, resource_type, sum(entries) FROM audit_counters GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT '', '', action, resource_type, sum(entries) FROM audit_counters GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT '', actor_id, action, resource_type, sum(entries) FROM audit_counters WHERE actor_id <> '' GROUP BY 1, 2, 3, 4`,
  // An entry without an actor has no total of its own: UNION drops the duplicate row ('', '').
  `CREATE TRIGGER audit_totals_of_new AFTER INSERT ON audit_counters
    BEGIN
      INSERT INTO audit_totals (log, actor_id, action, resource_type, entries)
        SELECT NEW.log, '', NEW.action, NEW.resource_type, NEW.entries
        UNION SELECT '', '', NEW.action, NEW.resource_type, NEW.entries
        UNION SELECT '', NEW.actor_id, NEW.action, NEW.resource_type, NEW.entries
        WHERE true
        ON CONFLICT (log, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries;
    END`,
  `CREATE TRIGGER audit_totals_of_more AFTER UPDATE OF entries ON audit_counters
    BEGIN
      UPDATE audit_totals SET entries = entries + NEW.entries - OLD.entries
        WHERE (log, actor_id) IN (VALUES (NEW.log, ''), ('', ''), ('', NEW.actor_id))
          AND action = NEW.action AND resource_type = NEW.resource_type;
    END`
]

export const auditPages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
