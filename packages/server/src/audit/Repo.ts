import { Array, Effect, Schema } from "effect"
import { Database } from "../database/Database.js"
import { query, sql } from "../database/Query.js"
import type { Draft, Head, Stamp } from "./Chain.js"
import { knownRows } from "./KnownRows.js"
import { type KeyedPlace, placeKey, placesOf } from "./Places.js"

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
const PlacedRow = Schema.Struct({ seq: Schema.Number, position: Schema.Number })

const IdRow = Schema.Struct({ id: Schema.Number })
const EntryIdRow = Schema.Struct({ id: Schema.String })

/** An entry with its link of the chain. */
export interface LinkedEntry {
  readonly entry: Draft
  readonly stamp: Stamp
  readonly chain: string
}

/** A stored entry. Positions number the entries of all logs; in a log they have the order of the chain. */
export interface StoredEntry extends LinkedEntry {
  readonly position: number
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

/** What the search index and the counters tell apart. */
interface Kind {
  readonly actor_id: string
  readonly action: string
  readonly resource_type: string
}

const kindOf = ({ action, actor_id, resource_type }: Draft): Kind => ({
  actor_id: actor_id ?? "",
  action,
  resource_type
})

/** The audit tables' statements. No statement updates or deletes an entry. */
export class AuditRepo extends Effect.Service<AuditRepo>()("@coffer/server/AuditRepo", {
  effect: Effect.gen(function* () {
    const {
      all,
      first,
      insert: insertInto,
      insertReturning,
      locking,
      lockingSoon,
      one,
      returning,
      write
    } = yield* query
    const { clockExpression, lock } = yield* Database

    const row = sql`SELECT log FROM audit_heads WHERE log = ${"log"}`
    const lockRow = locking(LogRow)`${row}`
    const lockKnownRow = lockingSoon`${row}`

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

    const insertRows = insertReturning(PlacedRow)("audit_entries", columns)

    /** Stores entries of one log. */
    const insert = Effect.fnUntraced(function* (entries: ReadonlyArray<LinkedEntry>) {
      const rows = yield* insertRows(entries.map(({ chain, entry, stamp }) => ({ ...entry, ...stamp, chain })))
      const positions = new Map(rows.map(({ position, seq }) => [seq, position]))
      const stored = entries.flatMap((linked): ReadonlyArray<StoredEntry> => {
        const position = positions.get(linked.stamp.seq)
        return position === undefined ? [] : [{ ...linked, position }]
      })
      if (stored.length < entries.length)
        return yield* Effect.dieMessage("an audit entry was stored without a position")
      return stored
    })

    const byKind = (drafts: ReadonlyArray<Draft>) =>
      Object.values(Array.groupBy(drafts, (entry) => `${entry.actor_id} ${entry.action} ${entry.resource_type}`))

    const findPlace = first(IdRow)`
      SELECT id FROM audit_places
      WHERE log = ${"log"} AND project = ${"project"} AND env = ${"env"} AND keys = ${"keys"}
        AND actor_name = ${"actor_name"}`

    const insertPlace = returning(IdRow)`
      INSERT INTO audit_places (log, project, env, keys, actor_name)
      VALUES (${"log"}, ${"project"}, ${"env"}, ${"keys"}, ${"actor_name"}) RETURNING id`

    const insertKeys = insertInto("audit_place_keys", ["key", "log", "place"])

    const insertActors = insertInto("audit_actors", ["log", "actor_name", "actor_id"], sql`ON CONFLICT DO NOTHING`)

    const insertPostings = insertInto(
      "audit_postings",
      ["place", "actor_id", "action", "resource_type", "position"],
      sql`ON CONFLICT DO NOTHING`
    )

    const countAtPlaces = insertInto(
      "audit_place_counters",
      ["place", "actor_id", "action", "resource_type", "entries"],
      sql`ON CONFLICT (place, actor_id, action, resource_type)
        DO UPDATE SET entries = audit_place_counters.entries + excluded.entries`
    )

    const countInLog = insertInto(
      "audit_counters",
      ["log", "actor_id", "action", "resource_type", "entries"],
      sql`ON CONFLICT (log, actor_id, action, resource_type)
        DO UPDATE SET entries = audit_counters.entries + excluded.entries`
    )

    /** Finds or inserts a place and returns its id. */
    const findOrInsert = Effect.fnUntraced(function* (
      log: string,
      { actor_name, env, keys, members, project }: KeyedPlace
    ) {
      const place = { log, project, env, keys, actor_name }
      const found = yield* findPlace(place)
      if (found !== undefined) return found.id
      const [made] = yield* insertPlace(place)
      const id = made?.id ?? 0
      yield* insertKeys(members.map((key) => ({ key, log, place: id })))
      return id
    })

    const places = knownRows<number>()
    const actors = knownRows<true>()

    const placeId = (log: string, place: KeyedPlace) =>
      Effect.suspend(() => {
        const name = `${log} ${placeKey(place)}`
        const known = places.find(name)
        return known === undefined
          ? Effect.tap(findOrInsert(log, place), (id) => places.remember(name, id))
          : Effect.succeed(known)
      })

    /** Lists the actors of some entries, for the filters. */
    const nameActors = (drafts: ReadonlyArray<Draft>) =>
      Effect.suspend(() => {
        const unknown = new Map<
          string,
          { readonly log: string; readonly actor_name: string; readonly actor_id: string }
        >()
        for (const { actor_id, actor_name, log } of drafts) {
          const name = JSON.stringify([log, actor_name, actor_id])
          if (actors.find(name) === undefined) unknown.set(name, { log, actor_name, actor_id: actor_id ?? "" })
        }
        return unknown.size === 0
          ? Effect.void
          : Effect.zipRight(
              insertActors([...unknown.values()]),
              Effect.forEach(unknown.keys(), (name) => actors.remember(name, true), { discard: true })
            )
      })

    /** Adds entries of one log to the search index. */
    const post = Effect.fnUntraced(function* (entries: ReadonlyArray<StoredEntry>) {
      const posted = new Map<string, { readonly place: KeyedPlace; readonly entries: Array<StoredEntry> }>()
      for (const linked of entries) {
        for (const place of placesOf(linked.entry)) {
          const key = placeKey(place)
          const known = posted.get(key)
          if (known === undefined) posted.set(key, { place, entries: [linked] })
          else known.entries.push(linked)
        }
      }
      yield* nameActors(entries.map(({ entry }) => entry))
      const postings: Array<Kind & { readonly place: number; readonly position: number }> = []
      const counters: Array<Kind & { readonly place: number; readonly entries: number }> = []
      for (const { entries, place: named } of posted.values()) {
        const place = yield* placeId(entries[0]?.entry.log ?? "", named)
        for (const { entry, position } of entries) postings.push({ ...kindOf(entry), place, position })
        for (const drafts of byKind(entries.map(({ entry }) => entry))) {
          counters.push({ ...kindOf(drafts[0]), place, entries: drafts.length })
        }
      }
      yield* insertPostings(postings)
      yield* countAtPlaces(counters)
    })

    const count = (drafts: ReadonlyArray<Draft>) =>
      countInLog(byKind(drafts).map((same) => ({ ...kindOf(same[0]), log: same[0].log, entries: same.length })))

    const writeHead = write`
      INSERT INTO audit_heads (log, seq, chain, created_at, mac)
      VALUES (${"log"}, ${"seq"}, ${"chain"}, ${"created_at"}, ${"mac"})
      ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, created_at = excluded.created_at,
        mac = excluded.mac`

    const setHead = ({ chain, created_at, log, mac, seq }: Head & { readonly mac: string }) =>
      writeHead({ log, seq, chain, created_at, mac })

    return {
      lockedEnd,
      insert,
      count,
      post,
      setHead,
      /** The ids of a log's newest entries, enough to find one whose commit was not confirmed. */
      newest: all(EntryIdRow)`SELECT id FROM audit_entries WHERE log = ${"log"} ORDER BY seq DESC LIMIT 1000`
    } as const
  })
}) {}
