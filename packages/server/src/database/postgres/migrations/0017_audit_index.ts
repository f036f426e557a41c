/**
 * The last entry of each log in the search index: as on SQLite. An older server adds entries to the index itself, and would
 * count them twice.
 */
export const auditIndex: ReadonlyArray<string> = [
  `CREATE TABLE audit_indexed (
    log TEXT COLLATE "C" PRIMARY KEY,
    seq BIGINT NOT NULL
  )`,
  `INSERT INTO audit_indexed (log, seq) SELECT log, seq FROM audit_heads`,
  `UPDATE schema_info SET min_reader = 17`
]
