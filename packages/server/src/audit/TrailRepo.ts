import { AuditEntryId, OrgId } from "@coffer/domain/Names"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"

const EntryRow = Schema.Struct({
  position: Schema.Number,
  id: AuditEntryId,
  log: Schema.String,
  seq: Schema.Number,
  org_id: Schema.NullOr(OrgId),
  actor_type: Schema.String,
  actor_id: Schema.NullOr(Schema.String),
  actor_name: Schema.String,
  action: Schema.String,
  resource_type: Schema.String,
  resource_id: Schema.NullOr(Schema.String),
  ip_address: Schema.NullOr(Schema.String),
  metadata: Schema.String,
  created_at: Schema.String,
  chain: Schema.String
})
export type EntryRow = typeof EntryRow.Type

/** An entry as it is found, whatever someone with the file has made of it. */
const FoundRow = Schema.Struct({
  ...EntryRow.fields,
  id: Schema.String,
  org_id: Schema.NullOr(Schema.String)
})

const EndRow = Schema.Struct({
  head_seq: Schema.NullOr(Schema.Number),
  head_chain: Schema.NullOr(Schema.String),
  head_created_at: Schema.NullOr(Schema.String),
  head_mac: Schema.NullOr(Schema.String),
  first_seq: Schema.NullOr(Schema.Number),
  last_seq: Schema.NullOr(Schema.Number)
})

const TotalRow = Schema.Struct({ total: Schema.NullOr(Schema.Number) })
const IdRow = Schema.Struct({ id: Schema.String })
const ChainRow = Schema.Struct({ chain: Schema.String })

const columns = `position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id,
  ip_address, metadata, created_at, chain`

/** What of a log is asked for. Each filter that is given narrows the answer. */
export interface Filters {
  /** The log; every log when it is left out. */
  readonly log?: string
  readonly action?: string
  readonly actor_id?: string
  readonly resource_type?: string
}

const conditions = (filters: Filters) => {
  const given = Object.entries(filters).filter((entry): entry is [string, string] => typeof entry[1] === "string")
  return { texts: given.map(([column]) => `${column} = ?`), values: given.map(([, value]) => value) }
}

const where = (texts: ReadonlyArray<string>): string => (texts.length === 0 ? "" : `WHERE ${texts.join(" AND ")}`)

/** Reads the audit tables, on the read-only connection. */
export class TrailRepo extends Effect.Service<TrailRepo>()("@coffer/server/TrailRepo", {
  effect: Effect.gen(function* () {
    const reader = yield* Reader
    const entries = reader.rows(EntryRow)
    const found = reader.rows(FoundRow)
    const ends = reader.rows(EndRow)
    const totals = reader.rows(TotalRow)
    const chains = reader.rows(ChainRow)
    const ids = reader.rows(IdRow)

    return {
      /** Entries newest first, below a position in commit order when one is given. Within a log that is the order of `seq`. */
      page: (filters: Filters, below: number | null, limit: number) => {
        const { texts, values } = conditions(filters)
        const order = filters.log === undefined ? "position" : "seq"
        const bounded = below === null ? [] : [`${order} < ?`]
        return entries(
          `SELECT ${columns} FROM audit_entries ${where([...texts, ...bounded])} ORDER BY ${order} DESC LIMIT ?`,
          [...values, ...(below === null ? [] : [below]), limit]
        )
      },

      total: (filters: Filters) => {
        const { texts, values } = conditions(filters)
        return Effect.map(
          totals(`SELECT sum(entries) AS total FROM audit_counters ${where(texts)}`, values),
          (rows) => rows[0]?.total ?? 0
        )
      },

      /** Entries of a log in their order, from a number up to a number. */
      run: (log: string, from: number, to: number, limit: number) =>
        found(`SELECT ${columns} FROM audit_entries WHERE log = ? AND seq >= ? AND seq <= ? ORDER BY seq LIMIT ?`, [
          log,
          from,
          to,
          limit
        ]),

      /** Entries of every log in the order of their commit, behind a position. */
      behind: (position: number, limit: number) =>
        entries(`SELECT ${columns} FROM audit_entries WHERE position > ? ORDER BY position LIMIT ?`, [position, limit]),

      idAt: (position: number) =>
        Effect.map(ids(`SELECT id FROM audit_entries WHERE position = ?`, [position]), (rows) => rows[0]?.id),

      /** A log's head and the numbers of its first and last entries, as they stand at one moment. */
      end: (log: string) =>
        Effect.map(
          ends(
            `SELECT max(h.seq) AS head_seq, max(h.chain) AS head_chain, max(h.created_at) AS head_created_at,
                max(h.mac) AS head_mac, (SELECT min(seq) FROM audit_entries WHERE log = ?) AS first_seq,
                (SELECT max(seq) FROM audit_entries WHERE log = ?) AS last_seq
              FROM audit_heads h WHERE h.log = ?`,
            [log, log, log]
          ),
          (rows) => rows[0]
        ),

      chainAt: (log: string, seq: number) =>
        Effect.map(
          chains(`SELECT chain FROM audit_entries WHERE log = ? AND seq = ?`, [log, seq]),
          (rows) => rows[0]?.chain
        )
    } as const
  })
}) {}
