import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A page of the audit trail costs the same however many entries there are and whatever is asked for together. Entries of one
 * actor, action and resource type are one run of an index, in one log and in all: a page merges the runs that fit, which
 * the counters name. The totals are the counters added up over every log (`log` is ''), every actor (`actor_id` is '') or
 * both, kept by triggers, so that nothing can count an entry and leave them out.
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
  // Each ends in the position, which is the rowid.
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
  // An entry of no actor counts for every actor, and has no total of its own: UNION leaves out the second ('', '').
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
