import type { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import { AuditEntryId, OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database } from "../database/Database.js"
import { allPages } from "../database/Pages.js"
import { listed, valuesOf } from "../database/ListedValues.js"
import { query, type Sql, sql } from "../database/Query.js"
import { forEachInSlices } from "../base/EventLoop.js"
import { termKey, termsOf } from "./SearchTerms.js"
import { blockOf, makeRanges } from "./Ranges.js"
import {
  countStatements,
  type Filters,
  isWhole,
  pageStatement,
  type Range,
  searchValues,
  totalStatements
} from "./Search.js"
import { CountRow, IdRow } from "../database/Rows.js"

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

const Metadata = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeMetadata = Schema.decodeUnknown(Metadata)

/** The API's record of a row. */
export const auditEntry = ({ chain: _chain, log: _log, metadata, position: _position, ...entry }: EntryRow) =>
  Effect.map(Effect.orDie(decodeMetadata(metadata)), (decoded): AuditEntry => ({ ...entry, metadata: decoded }))

/** An entry for verification, which must not fail on ids that someone changed in the file. */
const FoundRow = Schema.Struct({
  ...EntryRow.fields,
  id: Schema.String,
  org_id: Schema.NullOr(Schema.String)
})
export type FoundRow = typeof FoundRow.Type

const EndRow = Schema.Struct({
  start_seq: Schema.NullOr(Schema.Number),
  start_chain: Schema.NullOr(Schema.String),
  start_mac: Schema.NullOr(Schema.String),
  head_seq: Schema.NullOr(Schema.Number),
  head_chain: Schema.NullOr(Schema.String),
  head_created_at: Schema.NullOr(Schema.String),
  head_mac: Schema.NullOr(Schema.String),
  first_seq: Schema.NullOr(Schema.Number),
  last_seq: Schema.NullOr(Schema.Number)
})

const PositionRow = Schema.Struct({ position: Schema.Number })
const TotalRow = Schema.Struct({ total: Schema.Number })
const SeqRow = Schema.Struct({ seq: Schema.Number })
const HeadRow = Schema.Struct({ log: Schema.String, seq: Schema.Number })
const PlaceRow = Schema.Struct({ id: Schema.Number })
const LogRow = Schema.Struct({ log: Schema.String })
const ChainRow = Schema.Struct({ chain: Schema.String })

const columns = sql`position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id,
  ip_address, metadata, created_at, chain`

/** The limit of totals that no counter holds and that are counted row by row. */
export const countedAtMost = 10_000

/** How many entries `following` reads: each can hold 250 KB. */
const rowsAtOnce = 25

/** Reads the audit tables. */
export class EntryReader extends Effect.Service<EntryReader>()("@coffer/server/EntryReader", {
  effect: Effect.gen(function* () {
    const { all, first, one, run } = yield* query
    const { hasLateral } = yield* Database
    const { endOf, positionsOf, rangeOf } = yield* makeRanges

    const pages = yield* allPages
    const heads = all(HeadRow)`SELECT log, seq FROM audit_heads WHERE log > ${"after"} ORDER BY log LIMIT ${"limit"}`
    const entries = run(EntryRow)
    const positions = run(PositionRow)
    const totals = run(TotalRow)
    const startOf = first(SeqRow)`SELECT seq FROM audit_starts WHERE log = ${"log"}`
    const startSum = one(TotalRow)`SELECT coalesce(sum(seq), 0) AS total FROM audit_starts`
    /** How many entries left a log, or all logs, for archives. */
    const archived = (log: string | undefined) =>
      log === undefined
        ? Effect.map(startSum({}), ({ total }) => total)
        : Effect.map(startOf({ log }), (start) => start?.seq ?? 0)
    const headSum = one(TotalRow)`SELECT coalesce(sum(seq), 0) AS total FROM audit_heads`

    const sumOf = Effect.fnUntraced(function* (statements: ReadonlyArray<Sql<string>>, filters: Filters, range: Range) {
      const values = searchValues(filters, range, yield* positionsOf(filters, range), countedAtMost + 1)
      let sum = 0
      for (const statement of statements) for (const { total } of yield* totals(statement, values)) sum += total
      return sum
    })

    const indexedTimes = one(CountRow)`
      SELECT count(*) AS count WHERE EXISTS (SELECT 1 FROM audit_times
          WHERE block = ${"block"} AND oldest <= ${"moment"} AND newest >= ${"moment"})
        AND EXISTS (SELECT 1 FROM audit_actors
          WHERE actor_name = ${"actorName"} AND log = ${"log"} AND actor_id = ${"actorId"})`

    const findPlace = first(PlaceRow)`
      SELECT id FROM audit_places
      WHERE log = ${"log"} AND project = ${"project"} AND env = ${"env"} AND keys = ${"keys"} AND actor_name = ${"actor_name"}`

    const kind = sql`k.action = ${"action"} AND k.resource_type = ${"resourceType"}`
    const indexedPostings = one(CountRow)`
      SELECT count(*) AS count FROM audit_place_counters k CROSS JOIN audit_postings o
      WHERE (k.place IN (${"all"}, ${"whole"}) AND k.actor_id = '' AND ${kind}
        OR k.place IN (${"all"}, ${"whole"}, ${"first"}, ${"second"}, ${"third"}) AND k.actor_id = ${"actorId"} AND ${kind})
        AND o.run = k.id AND o.position = ${"position"}`

    const behind = all(EntryRow)`
      SELECT ${columns} FROM audit_entries WHERE log = ${"log"} AND seq > ${"seq"} AND seq <= ${"last"}
      ORDER BY seq LIMIT ${"limit"}`

    const hasKey = first(PlaceRow)`
      SELECT place AS id FROM audit_place_keys WHERE key = ${"key"} AND log = ${"log"} AND place = ${"place"}`

    return {
      rangeOf,
      archived,

      /** The positions of a page, newest first. */
      page: Effect.fnUntraced(function* (filters: Filters, range: Range, limit: number) {
        const values = searchValues(filters, range, yield* positionsOf(filters, range), limit)
        return (yield* positions(pageStatement(filters, range, hasLateral), values)).map(({ position }) => position)
      }),

      /** The entries at some positions, newest first. Entries are immutable, so no transaction with `page` is needed. */
      entriesAt: (wanted: ReadonlyArray<number>) =>
        entries(
          sql`SELECT ${columns} FROM audit_entries WHERE position IN (${listed("position", wanted)})
            ORDER BY position DESC`,
          valuesOf("position", wanted)
        ),

      /** How many entries match; at most `countedAtMost` + 1 for each statement if no counter holds the total. */
      total: Effect.fnUntraced(function* (filters: Filters, range: Range) {
        const { below, from } = range
        // These need no counter, which may be behind.
        if (isWhole(filters) && filters.log !== undefined) {
          return Math.max(0, (below ?? (yield* endOf(filters.log))) - (from ?? (yield* archived(filters.log)) + 1))
        }
        if (from === null && below === null) {
          return isWhole(filters)
            ? (yield* headSum({})).total - (yield* archived(undefined))
            : yield* sumOf(totalStatements(filters), filters, range)
        }
        return yield* sumOf(countStatements(filters, range), filters, range)
      }),

      /**
       * Whether the search index finds an entry at each of its places, by its actor and by its time. Places and their keys are looked
       * up once: `checked` holds the ids of those that were.
       */
      isIndexed: Effect.fnUntraced(function* (entry: FoundRow, checked: Map<string, number>) {
        const { action, actor_id, actor_name, created_at, log, position, resource_type } = entry
        const actorId = actor_id ?? ""
        const timed = yield* indexedTimes({
          block: blockOf(position),
          moment: created_at,
          actorName: actor_name,
          log,
          actorId
        })
        if (timed.count !== 1) return false
        const places: Array<number> = []
        let postings = 0
        for (const { actors, members, ...place } of termsOf(entry)) {
          const name = termKey(place)
          const found = checked.get(name) ?? (yield* findPlace(place))?.id
          if (found === undefined) return false
          if (!checked.has(name)) {
            const keys = yield* forEachInSlices(members, (key) => hasKey({ key, log, place: found }))
            if (keys.includes(undefined)) return false
            checked.set(name, found)
          }
          places.push(found)
          postings += actors.length
        }
        const [all = null, whole = null, first = null, second = null, third = null] = places
        const values = { all, whole, first, second, third, actorId, action, resourceType: resource_type, position }
        return (yield* indexedPostings(values)).count === postings
      }),

      /** Entries of a log from a number to a number, in order. */
      run: all(FoundRow)`
        SELECT ${columns} FROM audit_entries WHERE log = ${"log"} AND seq >= ${"from"} AND seq <= ${"to"}
        ORDER BY seq LIMIT ${"limit"}`,

      /** The next entries of a log behind a number, up to a number, in order, and the number that is reached with them. */
      following: (log: string, seq: number, last: number) =>
        Effect.map(behind({ log, seq, last, limit: rowsAtOnce }), (rows) => ({
          rows,
          reached: rows.length === rowsAtOnce ? (rows.at(-1)?.seq ?? last) : last
        })),

      /** The heads of all logs. */
      heads: pages(
        "",
        (after, limit) => heads({ after, limit }),
        ({ log }): string => log
      ),

      /** The sum of the heads' numbers, which changes with every append. */
      headSum,

      entryAt: first(IdRow)`SELECT id FROM audit_entries WHERE position = ${"position"}`,

      idOf: first(IdRow)`SELECT id FROM audit_entries WHERE log = ${"log"} AND seq = ${"seq"}`,

      /** The last entry of a log that is not behind a position. */
      lastUntil: first(SeqRow)`
        SELECT seq FROM audit_entries WHERE log = ${"log"} AND position <= ${"position"} ORDER BY seq DESC LIMIT 1`,

      /** A log's head and start, and the numbers of its first and last entries, from one snapshot. */
      end: one(EndRow)`
        SELECT max(h.seq) AS head_seq, max(h.chain) AS head_chain, max(h.created_at) AS head_created_at,
          max(h.mac) AS head_mac, (SELECT seq FROM audit_starts WHERE log = ${"log"}) AS start_seq,
          (SELECT chain FROM audit_starts WHERE log = ${"log"}) AS start_chain,
          (SELECT mac FROM audit_starts WHERE log = ${"log"}) AS start_mac, (SELECT min(seq) FROM audit_entries WHERE log = ${"log"}) AS first_seq,
          (SELECT max(seq) FROM audit_entries WHERE log = ${"log"}) AS last_seq
        FROM audit_heads h WHERE h.log = ${"log"}`,

      /** Whether a log is listed, or is that of an organization, also a removed one. */
      begun: first(LogRow)`
        SELECT log FROM audit_logs WHERE log = ${"log"} UNION ALL SELECT id AS log FROM organizations WHERE id = ${"log"}`,

      link: first(ChainRow)`SELECT chain FROM audit_entries WHERE log = ${"log"} AND seq = ${"seq"}`
    } as const
  })
}) {}
