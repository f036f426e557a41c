import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Instance } from "../keys/Instance.js"
import { Database } from "../database/Database.js"
import { query, sql } from "../database/Query.js"
import { genesis, sameLink, type Start, startMac } from "./Chain.js"

const StartRow = Schema.Struct({ seq: Schema.Number, chain: Schema.String, mac: Schema.String })

const ArchiveRow = Schema.Struct({
  id: Schema.String,
  log: Schema.String,
  first_seq: Schema.Number,
  last_seq: Schema.Number,
  chain: Schema.String,
  name: Schema.String,
  size_bytes: Schema.Number,
  sha256: Schema.String,
  archived_at: Schema.String
})
/** A range of a log whose copy was read back and verified. */
export type ArchiveRow = typeof ArchiveRow.Type

const columns = [
  ...(["id", "log", "first_seq", "last_seq", "chain", "name", "size_bytes", "sha256", "archived_at"] as const)
]

/** The archives of audit logs, and the starts of logs from which entries left. */
export const archiveRepo = Effect.gen(function* () {
  const { all, first, insert, write } = yield* query
  const { isShared } = yield* Database
  const { auditKey } = yield* Instance

  const startRow = first(StartRow)`SELECT seq, chain, mac FROM audit_starts WHERE log = ${"log"}`
  const writeStart = write`
    INSERT INTO audit_starts (log, seq, chain, mac) VALUES (${"log"}, ${"seq"}, ${"chain"}, ${"mac"})
    ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, mac = excluded.mac`

  const list = sql([columns.join(", ")])

  return {
    /** The last entry that left a log; null if the row is not authentic. */
    start: (log: string) =>
      Effect.map(startRow({ log }), (row): Start | null => {
        if (row === undefined) return { log, seq: 0, chain: genesis }
        const start = { log, seq: row.seq, chain: row.chain }
        return sameLink(row.mac, startMac(auditKey, start)) ? start : null
      }),

    setStart: (start: Start) => writeStart({ ...start, mac: startMac(auditKey, start) }),

    /**
     * Deletes the entries of a log behind a number, up to another one: the only statement that removes entries. The database
     * refuses those that no row of `audit_archives` covers.
     */
    leave: isShared
      ? write`SELECT audit_entries_leave(${"log"}, ${"after"}, ${"to"})`
      : write`DELETE FROM audit_entries WHERE log = ${"log"} AND seq > ${"after"} AND seq <= ${"to"}`,

    insert: insert("audit_archives", columns),

    /** The newest archive of a log. */
    newest: first(ArchiveRow)`
      SELECT ${list} FROM audit_archives WHERE log = ${"log"} ORDER BY last_seq DESC LIMIT 1`,

    /** All archives, in the order of each log. */
    every: all(ArchiveRow)`SELECT ${list} FROM audit_archives ORDER BY log, last_seq`
  } as const
})
