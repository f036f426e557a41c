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

/** A row of counters for each kind of entry (an action and a resource type) that fits. */
const countersOf = ({ action, actor_id, log, resource_type }: Filters) => ({
  // The totals are those of every log, or of every actor.
  table: log !== undefined && actor_id !== undefined ? "audit_counters" : "audit_totals",
  where: [
    "k.log = ? AND k.actor_id = ?",
    ...(action === undefined ? [] : ["k.action = ?"]),
    ...(resource_type === undefined ? [] : ["k.resource_type = ?"])
  ].join(" AND "),
  values: [log ?? "", actor_id ?? "", ...[action, resource_type].filter((word) => word !== undefined)]
})

/** The index in which the entries of each kind follow one another. */
const indexOf = ({ actor_id, log }: Filters): string =>
  `audit_entries_${log === undefined ? "of" : "by"}_${actor_id === undefined ? "kind" : "actor"}`

/** The newest entries of any kind. */
const newest = ({ log }: Filters, below: number | null, limit: number) => {
  const order = log === undefined ? "position" : "seq"
  const where = [...(log === undefined ? [] : ["log = ?"]), ...(below === null ? [] : [`${order} < ?`])]
  return {
    statement: `SELECT ${columns} FROM audit_entries ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`}
      ORDER BY ${order} DESC LIMIT ?`,
    values: [...(log === undefined ? [] : [log]), ...(below === null ? [] : [below]), limit]
  }
}

/**
 * The newest entries that fit: a page of each kind from the index, and of these the newest. It costs the same for any number of
 * entries; and it is one statement, so that no kind is missing beside a newer entry of another.
 */
const newestThatFit = (filters: Filters, below: number | null, limit: number) => {
  const { actor_id, log } = filters
  const counters = countersOf(filters)
  const run = [
    ...(log === undefined ? [] : ["e.log = k.log"]),
    ...(actor_id === undefined ? [] : ["e.actor_id = k.actor_id"]),
    "e.action = k.action AND e.resource_type = k.resource_type",
    ...(below === null ? [] : [`e.${log === undefined ? "position" : "seq"} < ?`])
  ]
  return {
    statement: `
      SELECT ${columns} FROM audit_entries WHERE position IN (
        SELECT f.position FROM ${counters.table} k CROSS JOIN audit_entries f ON f.position IN (
          SELECT e.position FROM audit_entries e INDEXED BY ${indexOf(filters)}
          WHERE ${run.join(" AND ")} ORDER BY e.${log === undefined ? "position" : "seq"} DESC LIMIT ?)
        WHERE ${counters.where} ORDER BY f.position DESC LIMIT ?)
      ORDER BY position DESC`,
    values: [...(below === null ? [] : [below]), limit, ...counters.values, limit]
  }
}

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
        const { action, actor_id, resource_type } = filters
        const all = action === undefined && actor_id === undefined && resource_type === undefined
        const { statement, values } = (all ? newest : newestThatFit)(filters, below, limit)
        return entries(statement, values)
      },

      total: (filters: Filters) => {
        const { table, values, where } = countersOf(filters)
        return Effect.map(
          totals(`SELECT sum(entries) AS total FROM ${table} k WHERE ${where}`, values),
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
