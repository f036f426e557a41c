import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database, Transaction } from "../database/Database.js"
import { query, sql } from "../database/Query.js"
import type { Draft, Head, Stamp } from "./Chain.js"
import { knownRows } from "./KnownRows.js"
import { IdRow } from "../database/Rows.js"

const EndRow = Schema.Struct({
  seq: Schema.NullOr(Schema.Number),
  chain: Schema.NullOr(Schema.String),
  created_at: Schema.NullOr(Schema.String),
  mac: Schema.NullOr(Schema.String),
  last_seq: Schema.NullOr(Schema.Number),
  last_chain: Schema.NullOr(Schema.String),
  millis: Schema.NullOr(Schema.Number)
})

const LogRow = Schema.Struct({ log: Schema.String })

/** An entry with its link of the chain. */
export interface LinkedEntry {
  readonly entry: Draft
  readonly stamp: Stamp
  readonly chain: string
}

/** The end of a log, by its head and by its entries. In an intact log both agree, or both are absent. */
export interface LogEnd {
  readonly head: (Head & { readonly mac: string }) | null
  readonly last: { readonly seq: number; readonly chain: string } | null
  /** The time by the clock that all servers share; null if the process has the only server. */
  readonly millis: number | null
}

const columns = [
  "id",
  "log",
  "seq",
  "org_id",
  "actor_type",
  "actor_id",
  "actor_name",
  "action",
  "resource_type",
  "resource_id",
  "ip_address",
  "metadata",
  "created_at",
  "chain"
] as const

/** The statements of appends. No statement updates an entry, and one alone deletes entries: that of `ArchiveRepo`. */
export const auditRepo = Effect.gen(function* () {
  const { all, insert: insertInto, locking, lockingSoon, one, write } = yield* query
  const { clockExpression, lock, rowLock } = yield* Database

  const row = sql`SELECT log FROM audit_heads WHERE log = ${"log"}`
  const lockRow = locking(LogRow)`${row}`
  const lockKnownRow = lockingSoon`${row}`
  const lockFreeRow = rowLock === null ? null : all(LogRow)`${row} ${sql([`${rowLock} SKIP LOCKED`])}`

  /** Makes transactions that append to one log wait for each other. A new log has no head yet whose row could be locked. */
  const lockHead = Effect.fnUntraced(function* (log: string) {
    const heads = yield* lockRow({ log })
    if (heads?.length !== 0) return
    yield* lock(`audit log ${log}`)
    yield* lockRow({ log })
  })

  const ends = one(EndRow)`
    SELECT h.seq, h.chain, h.created_at, h.mac, e.seq AS last_seq, e.chain AS last_chain,
      ${sql([clockExpression])} AS millis
    FROM (SELECT 1 AS one) AS o LEFT JOIN audit_heads h ON h.log = ${"log"} LEFT JOIN audit_entries e
      ON e.log = ${"log"} AND e.seq = (SELECT max(seq) FROM audit_entries WHERE log = ${"log"})`

  const end = (log: string): Effect.Effect<LogEnd> =>
    Effect.map(ends({ log }), ({ chain, created_at, last_chain, last_seq, mac, millis, seq }) => ({
      millis,
      head:
        seq === null || chain === null || created_at === null || mac === null
          ? null
          : { log, seq, chain, created_at, mac },
      last: last_seq === null || last_chain === null ? null : { seq: last_seq, chain: last_chain }
    }))

  const heads = knownRows<true>()

  /**
   * Locks a log and returns its end. The row of a known head is never removed, so its lock is not waited for: `end` runs with
   * the lock, and without another round trip.
   */
  const lockedEnd = Effect.fnUntraced(function* (log: string) {
    if (heads.find(log) !== undefined) {
      yield* lockKnownRow({ log })
      const found = yield* end(log)
      if (found.head !== null) return found
    }
    yield* lockHead(log)
    const found = yield* end(log)
    if (found.head !== null) yield* heads.remember(log, true)
    return found
  })

  /** Locks a log that no other transaction has. Returns false if one has it. */
  const lockIfFree = (log: string): Effect.Effect<boolean, never, Transaction> =>
    lockFreeRow === null || heads.find(log) === undefined
      ? Effect.as(Transaction, true)
      : Effect.map(lockFreeRow({ log }), ({ length }) => length > 0)

  const insertRows = insertInto("audit_entries", columns)

  /** Stores entries of one log. */
  const insert = (entries: ReadonlyArray<LinkedEntry>) =>
    insertRows(entries.map(({ chain, entry, stamp }) => ({ ...entry, ...stamp, chain })))

  const writeHead = write`
    INSERT INTO audit_heads (log, seq, chain, created_at, mac)
    VALUES (${"log"}, ${"seq"}, ${"chain"}, ${"created_at"}, ${"mac"})
    ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
      mac = excluded.mac`

  const setHead = ({ chain, created_at, log, mac, seq }: Head & { readonly mac: string }) =>
    writeHead({ log, seq, chain, created_at, mac })

  return {
    lockedEnd,
    lockIfFree,
    insert,
    setHead,
    /** Lets the search index continue behind an entry, in a log that goes on from an earlier end than it once had. */
    setIndexed: write`UPDATE audit_indexed SET seq = ${"seq"} WHERE log = ${"log"}`,
    /** The ids of a log's newest entries, enough to find one whose commit was not confirmed. */
    newest: all(IdRow)`SELECT id FROM audit_entries WHERE log = ${"log"} ORDER BY seq DESC LIMIT 1000`
  } as const
})

export type AuditRepo = Effect.Effect.Success<typeof auditRepo>
