import { join } from "node:path"
import { openDatabase } from "../ceiling/database.mjs"

/** Invariants of the database after the server has stopped: queries that return violations. */
const wrong = {
  "a version without an audit entry": `
    SELECT secret_id, version FROM secret_versions
    EXCEPT SELECT resource_id, json_extract(metadata, '$.version') FROM audit_entries WHERE action = 'secret.set'`,
  "an audit entry of a version that is not there": `
    SELECT resource_id, json_extract(metadata, '$.version') FROM audit_entries WHERE action = 'secret.set'
    EXCEPT SELECT secret_id, version FROM secret_versions`,
  "a version with more than one audit entry": `
    SELECT resource_id, json_extract(metadata, '$.version') FROM audit_entries WHERE action = 'secret.set'
    GROUP BY 1, 2 HAVING count(*) > 1`,
  "a secret without its current version": `
    SELECT id FROM secrets s WHERE version <> (SELECT max(version) FROM secret_versions WHERE secret_id = s.id)`,
  "a gap in the versions": `
    SELECT secret_id FROM secret_versions GROUP BY secret_id HAVING min(version) <> 1 OR max(version) <> count(*)`,
  "an environment that does not count its secrets": `
    SELECT id FROM environments e WHERE secret_count <> (
      SELECT count(*) FROM secrets WHERE env_id = e.id AND removed_at IS NULL)`,
  "a gap in an audit log": `
    SELECT e.log FROM audit_entries e LEFT JOIN audit_starts s ON s.log = e.log GROUP BY e.log
    HAVING min(e.seq) <> 1 + coalesce(max(s.seq), 0) OR max(e.seq) <> count(*) + coalesce(max(s.seq), 0)`,
  "a counter that is not the count": `
    SELECT run, count(*) FROM audit_postings GROUP BY 1 EXCEPT SELECT id, entries FROM audit_place_counters`,
  "a total that is not that of the entries": `
    SELECT e.log, '', e.action, e.resource_type, count(*) FROM audit_entries e
      JOIN audit_indexed i ON i.log = e.log AND i.seq >= e.seq GROUP BY 1, 2, 3, 4
    EXCEPT SELECT p.log, k.actor_id, k.action, k.resource_type, k.entries FROM audit_place_counters k
      JOIN audit_places p ON p.id = k.place WHERE p.project = '' AND p.env = '' AND p.keys = '' AND p.actor_name = ''`
}

/** The number of rows of each table, while the server runs or afterwards. */
export const rowsOf = (folder) => {
  const database = openDatabase(join(folder, "service.db"), { readonly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
  const rows = tables
    .pluck()
    .all()
    .map((table) => [table, database.prepare(`SELECT count(*) FROM "${table}"`).pluck().get()])
  database.close()
  return Object.fromEntries(rows)
}

/**
 * Returns the problems in the database of a stopped server.
 *
 * @param written the last acknowledged version of each key
 * @param reads the number of successful reads
 * @param bundles the number of successful bundles
 */
export const faultsOf = (folder, { bundles, reads, written }) => {
  const database = openDatabase(join(folder, "service.db"), { readonly: true })
  const faults = []
  const expect = (what, found, wanted) => {
    if (found !== wanted) faults.push(`${what}: ${found}, and not ${wanted}`)
  }
  expect("integrity_check", database.pragma("integrity_check", { simple: true }), "ok")
  expect("foreign_key_check", database.pragma("foreign_key_check").length, 0)
  for (const [what, query] of Object.entries(wrong)) {
    const found = database.prepare(query).all()
    if (found.length > 0) faults.push(`${what}: ${found.length}, such as ${JSON.stringify(found[0])}`)
  }
  const version = database.prepare("SELECT version FROM secrets WHERE key = ? AND removed_at IS NULL").pluck()
  for (const [key, acknowledged] of written) expect(`the version of ${key}`, version.get(key), acknowledged)
  const entries = database
    .prepare("SELECT count(*) FROM audit_entries WHERE action = 'secret.read' AND resource_type = ?")
    .pluck()
  expect("audit entries of reads", entries.get("secret"), reads)
  expect("audit entries of bundles", entries.get("env"), bundles)
  database.close()
  return faults
}
