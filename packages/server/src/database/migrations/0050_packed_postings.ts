import type { Migration } from "../Migration.js"

const kind = "place, actor_id, action, resource_type"

/**
 * A posting names its run, the row of `audit_place_counters`, by a number. Up to now it repeated the place, the actor, the action
 * and the resource type: the postings of an entry took 360 bytes, and take 65. An older server that still runs cannot add to the
 * index, and serves all but searches with filters: it need not refuse.
 */
export const packedPostings: Migration = {
  name: "packed_postings",
  statements: [
    // Freed pages are not overwritten: the index names actors, as the entries do, and holds no value.
    { sqlite: "PRAGMA secure_delete = FAST" },
    "ALTER TABLE audit_postings RENAME TO earlier_postings",
    "ALTER TABLE audit_place_counters RENAME TO earlier_counters",
    { postgres: "ALTER INDEX audit_postings_pkey RENAME TO earlier_postings_pkey" },
    { postgres: "ALTER INDEX audit_place_counters_pkey RENAME TO earlier_counters_pkey" },
    `CREATE TABLE audit_place_counters (
    id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    entries INTEGER NOT NULL,
    UNIQUE (place, actor_id, action, resource_type)
  ) STRICT`,
    `CREATE TABLE audit_postings (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (run, position)
  ) STRICT, WITHOUT ROWID`,
    `INSERT INTO audit_place_counters (${kind}, entries) SELECT ${kind}, entries FROM earlier_counters ORDER BY ${kind}`,
    // Both sides have one order: no page is written twice.
    `INSERT INTO audit_postings (run, position)
    SELECT k.id, e.position FROM audit_place_counters k CROSS JOIN earlier_postings e
    WHERE e.place = k.place AND e.actor_id = k.actor_id AND e.action = k.action AND e.resource_type = k.resource_type
    ORDER BY 1, 2`,
    "DROP TABLE earlier_postings",
    "DROP TABLE earlier_counters",
    { sqlite: "PRAGMA secure_delete = ON" }
  ]
}
