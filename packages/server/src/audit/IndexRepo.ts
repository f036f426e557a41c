import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pacing } from "../base/EventLoop.js"
import { query, sql } from "../database/Query.js"
import { knownRows } from "./KnownRows.js"
import { type KeyedTerm, termKey, termsOf } from "./SearchTerms.js"

const StateRow = Schema.Struct({ head: Schema.Number, indexed: Schema.Number })
const SeqRow = Schema.Struct({ seq: Schema.Number })
const LogRow = Schema.Struct({ log: Schema.String })
const IdRow = Schema.Struct({ id: Schema.Number })

/** The columns of an entry that the search index needs. */
const IndexedRow = Schema.Struct({
  position: Schema.Number,
  seq: Schema.Number,
  actor_id: Schema.NullOr(Schema.String),
  actor_name: Schema.String,
  action: Schema.String,
  resource_type: Schema.String,
  metadata: Schema.String
})
type IndexedRow = typeof IndexedRow.Type

/** What the search index and the counters tell apart. */
interface Kind {
  readonly actor_id: string
  readonly action: string
  readonly resource_type: string
}

interface Posted extends Kind {
  readonly position: number
}

/** Some entries of a log in order, and what the search index has of them. */
export interface IndexBatch {
  /** The entries are those behind `from`, up to `to`. */
  readonly from: number
  readonly to: number
  readonly actors: ReadonlyArray<{ readonly actor_name: string; readonly actor_id: string }>
  readonly kinds: ReadonlyArray<Posted>
  readonly places: ReadonlyArray<{ readonly place: KeyedTerm; readonly entries: ReadonlyArray<Posted> }>
}

/** How many entries one statement reads: each can hold 250 KB. */
const rowsAtOnce = 25
/** A batch ends after this many entries, or characters of metadata: its transaction is short. */
const maxEntries = 200
const maxCharacters = 256 * 1024

const byKind = (entries: ReadonlyArray<Posted>) =>
  Object.values(
    Array.groupBy(entries, ({ action, actor_id, resource_type }) => `${actor_id} ${action} ${resource_type}`)
  ).map(([{ action, actor_id, resource_type }, ...rest]) => ({
    actor_id,
    action,
    resource_type,
    entries: rest.length + 1
  }))

/** Collects the batch of some entries. */
const collect = (from: number) => {
  const actors = new Map<string, { readonly actor_name: string; readonly actor_id: string }>()
  const kinds: Array<Posted> = []
  const places = new Map<string, { readonly place: KeyedTerm; readonly entries: Array<Posted> }>()
  let characters = 0
  return {
    add: (row: IndexedRow): void => {
      const { action, actor_name, metadata, position, resource_type } = row
      const actor_id = row.actor_id ?? ""
      const posted = { actor_id, action, resource_type, position }
      characters += metadata.length
      kinds.push(posted)
      actors.set(JSON.stringify([actor_name, actor_id]), { actor_name, actor_id })
      for (const place of termsOf(row)) {
        const name = termKey(place)
        const known = places.get(name)
        if (known === undefined) places.set(name, { place, entries: [posted] })
        else known.entries.push(posted)
      }
    },
    isFull: (): boolean => kinds.length >= maxEntries || characters >= maxCharacters,
    batch: (to: number): IndexBatch => ({
      from,
      to,
      actors: [...actors.values()],
      kinds,
      places: [...places.values()]
    })
  } as const
}

/** The statements of the search index, which follows the entries of each log. */
export const indexRepo = Effect.gen(function* () {
  const { all, first, insert, locking, returning, write } = yield* query

  const entriesAfter = all(IndexedRow)`
    SELECT position, seq, actor_id, actor_name, action, resource_type, metadata FROM audit_entries
    WHERE log = ${"log"} AND seq > ${"from"} AND seq <= ${"to"} ORDER BY seq LIMIT ${sql([String(rowsAtOnce)])}`

  /** Reads the entries of a log behind a number, up to another one, until the batch is full. It is empty if they were removed. */
  const read = Effect.fnUntraced(function* (log: string, from: number, to: number) {
    const pace = pacing()
    const collected = collect(from)
    let reached = from
    while (!collected.isFull()) {
      const rows = yield* entriesAfter({ log, from: reached, to })
      for (const row of rows) {
        collected.add(row)
        reached = row.seq
        yield* pace
      }
      if (rows.length < rowsAtOnce) break
    }
    return collected.batch(reached)
  })

  const addState = insert("audit_indexed", ["log", "seq"], sql`ON CONFLICT DO NOTHING`)
  const state = sql`SELECT seq FROM audit_indexed WHERE log = ${"log"}`
  const lockState = locking(SeqRow)`${state}`
  const readState = first(SeqRow)`${state}`
  const setState = write`UPDATE audit_indexed SET seq = ${"seq"} WHERE log = ${"log"}`

  const findPlace = first(IdRow)`
    SELECT id FROM audit_places
    WHERE log = ${"log"} AND project = ${"project"} AND env = ${"env"} AND keys = ${"keys"}
      AND actor_name = ${"actor_name"}`

  const insertPlace = returning(IdRow)`
    INSERT INTO audit_places (log, project, env, keys, actor_name)
    VALUES (${"log"}, ${"project"}, ${"env"}, ${"keys"}, ${"actor_name"}) RETURNING id`

  const insertKeys = insert("audit_place_keys", ["key", "log", "place"])

  const insertActors = insert("audit_actors", ["log", "actor_name", "actor_id"], sql`ON CONFLICT DO NOTHING`)

  const insertPostings = insert(
    "audit_postings",
    ["place", "actor_id", "action", "resource_type", "position"],
    sql`ON CONFLICT DO NOTHING`
  )

  const countAtPlaces = insert(
    "audit_place_counters",
    ["place", "actor_id", "action", "resource_type", "entries"],
    sql`ON CONFLICT (place, actor_id, action, resource_type)
      DO UPDATE SET entries = audit_place_counters.entries + excluded.entries`
  )

  const countInLog = insert(
    "audit_counters",
    ["log", "actor_id", "action", "resource_type", "entries"],
    sql`ON CONFLICT (log, actor_id, action, resource_type)
      DO UPDATE SET entries = audit_counters.entries + excluded.entries`
  )

  const places = knownRows<number>()
  const actors = knownRows<true>()

  /** Finds or inserts a place and returns its id. */
  const placeId = Effect.fnUntraced(function* (log: string, { members, ...terms }: KeyedTerm) {
    const name = `${log} ${termKey(terms)}`
    const known = places.find(name)
    if (known !== undefined) return known
    const place = { log, ...terms }
    const found = yield* findPlace(place)
    const id = found?.id ?? (yield* insertPlace(place))[0]?.id ?? 0
    if (found === undefined) yield* insertKeys(members.map((key) => ({ key, log, place: id })))
    yield* places.remember(name, id)
    return id
  })

  /** Lists actors for the filters. */
  const nameActors = Effect.fnUntraced(function* (log: string, named: IndexBatch["actors"]) {
    const unknown = named.flatMap((actor) => {
      const name = JSON.stringify([log, actor.actor_name, actor.actor_id])
      return actors.find(name) === undefined ? [{ name, row: { log, ...actor } }] : []
    })
    yield* insertActors(unknown.map(({ row }) => row))
    for (const { name } of unknown) yield* actors.remember(name, true)
  })

  /** Adds a batch to the index, unless another server, or another request, has done so since it was read. */
  const post = Effect.fnUntraced(function* (log: string, batch: IndexBatch) {
    yield* addState([{ log, seq: 0 }])
    const [reached] = (yield* lockState({ log })) ?? [yield* readState({ log })]
    if (reached?.seq !== batch.from) return
    const pace = pacing()
    yield* nameActors(log, batch.actors)
    const postings: Array<Posted & { readonly place: number }> = []
    const counters: Array<Kind & { readonly place: number; readonly entries: number }> = []
    for (const { entries, place: named } of batch.places) {
      const place = yield* placeId(log, named)
      for (const posted of entries) postings.push({ ...posted, place })
      for (const counted of byKind(entries)) counters.push({ ...counted, place })
      yield* pace
    }
    for (const some of Array.chunksOf(postings, rowsAtOnce * 4)) yield* Effect.zipRight(insertPostings(some), pace)
    for (const some of Array.chunksOf(counters, rowsAtOnce * 4)) yield* Effect.zipRight(countAtPlaces(some), pace)
    yield* countInLog(byKind(batch.kinds).map((counted) => ({ ...counted, log })))
    yield* setState({ log, seq: batch.to })
  })

  return {
    read,
    post,

    /** The number of a log's last entry by its head, and of the last one in the index. */
    state: first(StateRow)`
      SELECT h.seq AS head, coalesce(i.seq, 0) AS indexed
      FROM audit_heads h LEFT JOIN audit_indexed i ON i.log = h.log WHERE h.log = ${"log"}`,

    /** Logs with entries that are not in the index. */
    behind: all(LogRow)`
      SELECT h.log AS log FROM audit_heads h LEFT JOIN audit_indexed i ON i.log = h.log
      WHERE h.seq > coalesce(i.seq, 0)`
  } as const
})
