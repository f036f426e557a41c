import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { backgroundPacing, pacing } from "../base/EventLoop.js"
import { Database } from "../database/Database.js"
import { listed, valuesOf } from "../database/ListedValues.js"
import { joined, query, sql } from "../database/Query.js"
import { knownRows } from "./KnownRows.js"
import { type KeyedTerm, type SearchTerm, termKey, termsOf } from "./SearchTerms.js"

const StateRow = Schema.Struct({ head: Schema.Number, indexed: Schema.Number })
const SeqRow = Schema.Struct({ seq: Schema.Number })
const BehindRow = Schema.Struct({ log: Schema.String, entries: Schema.Number })
const IdRow = Schema.Struct({ id: Schema.Number })
const RunRow = Schema.Struct({
  id: Schema.Number,
  place: Schema.Number,
  actor_id: Schema.String,
  action: Schema.String,
  resource_type: Schema.String
})

/** The columns of an entry that the search index needs. */
const IndexedRow = Schema.Struct({
  position: Schema.Number,
  log: Schema.String,
  seq: Schema.Number,
  actor_id: Schema.NullOr(Schema.String),
  actor_name: Schema.String,
  action: Schema.String,
  resource_type: Schema.String,
  metadata: Schema.String
})
type IndexedRow = typeof IndexedRow.Type

/** The entries of a batch that have a place, an actor, an action and a resource type in common. */
interface Run {
  readonly actor_id: string
  readonly action: string
  readonly resource_type: string
  readonly positions: Array<number>
}

type PlacedRun = readonly [place: number, kind: string, run: Run]

/** Identifies a run at its place. */
const kindOf = ({ action, actor_id, resource_type }: Omit<Run, "positions">): string =>
  `${actor_id} ${action} ${resource_type}`

/** Some entries of a log in order, and what the search index has of them. */
export interface IndexBatch {
  /** The entries are those behind `from`, up to `to`. */
  readonly from: number
  readonly to: number
  readonly actors: ReadonlyArray<{ readonly actor_name: string; readonly actor_id: string }>
  readonly places: ReadonlyArray<{ readonly place: KeyedTerm; readonly runs: ReadonlyMap<string, Run> }>
}

/** How many entries one statement reads: each can hold 250 KB. */
const rowsAtOnce = 25
/** A batch ends after this many characters of metadata: its transaction is short. */
const maxCharacters = 256 * 1024

/** Collects the batch of some entries. */
const collect = (from: number, maxEntries: number) => {
  const actors = new Map<string, { readonly actor_name: string; readonly actor_id: string }>()
  const places = new Map<string, { readonly place: KeyedTerm; readonly runs: Map<string, Run> }>()
  let entries = 0
  let characters = 0
  return {
    add: (row: IndexedRow): void => {
      const { action, actor_name, metadata, position, resource_type } = row
      entries++
      characters += metadata.length
      const actor_id = row.actor_id ?? ""
      actors.set(JSON.stringify([actor_name, actor_id]), { actor_name, actor_id })
      for (const place of termsOf(row)) {
        const name = termKey(place)
        const { runs } = places.get(name) ?? { place, runs: new Map<string, Run>() }
        places.set(name, { place, runs })
        for (const actor_id of place.actors) {
          const kind = kindOf({ actor_id, action, resource_type })
          const run = runs.get(kind)
          if (run === undefined) runs.set(kind, { actor_id, action, resource_type, positions: [position] })
          else run.positions.push(position)
        }
      }
    },
    isFull: (): boolean => entries >= maxEntries || characters >= maxCharacters,
    batch: (to: number): IndexBatch => ({ from, to, actors: [...actors.values()], places: [...places.values()] })
  } as const
}

/** How many rows a statement of the index writes at most. */
const slotCount = 100
const slots = Array.range(0, slotCount - 1)

/** The runs and positions of postings as a list of rows. The first row has the types. */
const pairs = joined(
  slots.map((slot) =>
    slot === 0
      ? sql`(CAST(${"run_0"} AS BIGINT), CAST(${"position_0"} AS BIGINT))`
      : sql`(${`run_${slot}`}, ${`position_${slot}`})`
  ),
  sql`, `
)

/** The postings of runs, in order. */
const postingsOf = (found: ReadonlyArray<PlacedRun>, ids: ReadonlyMap<string, number>) =>
  found.flatMap(([place, kind, { positions }]) => {
    const run = ids.get(`${place} ${kind}`) ?? 0
    return positions.map((position) => ({ run, position }))
  })

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const searchTerm = ({ actor_name, env, keys, log, project }: KeyedTerm): SearchTerm => ({
  log,
  project,
  env,
  keys,
  actor_name
})

/** The statements of the search index, which follows the entries of each log. */
export const indexRepo = Effect.gen(function* () {
  const { all, first, insert, insertReturning, locking, returning, write } = yield* query
  const { isAwaited } = yield* Database

  const entriesAfter = all(IndexedRow)`
    SELECT position, log, seq, actor_id, actor_name, action, resource_type, metadata FROM audit_entries
    WHERE log = ${"log"} AND seq > ${"from"} AND seq <= ${"to"} ORDER BY seq LIMIT ${sql([String(rowsAtOnce)])}`

  /** Reads the entries of a log behind a number, up to another one, until the batch is full. It is empty if they were removed. */
  const read = Effect.fnUntraced(function* (log: string, from: number, to: number, maxEntries: number) {
    const collected = collect(from, maxEntries)
    const pace = backgroundPacing(() => false)
    let reached = from
    while (!collected.isFull()) {
      const rows = yield* entriesAfter({ log, from: reached, to })
      for (const row of rows) collected.add(row)
      reached = rows.at(-1)?.seq ?? reached
      if (rows.length < rowsAtOnce) break
      yield* pace
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
    VALUES (${"log"}, ${"project"}, ${"env"}, ${"keys"}, ${"actor_name"})
    ON CONFLICT DO NOTHING RETURNING id`

  const insertKeys = insert("audit_place_keys", ["key", "log", "place"])

  const insertActors = insert("audit_actors", ["log", "actor_name", "actor_id"], sql`ON CONFLICT DO NOTHING`)

  const insertPostings = insert("audit_postings", ["run", "position"], sql`ON CONFLICT DO NOTHING`)

  const countAtPlaces = insertReturning(RunRow)(
    "audit_place_counters",
    ["place", "actor_id", "action", "resource_type", "entries"],
    sql`ON CONFLICT (place, actor_id, action, resource_type)
      DO UPDATE SET entries = audit_place_counters.entries + excluded.entries`
  )

  const deletePostings = write`DELETE FROM audit_postings WHERE (run, position) IN (VALUES ${pairs})`
  const deleteEmpty = write`DELETE FROM audit_place_counters WHERE entries <= 0 AND id IN (${listed("run", slots)})`

  const places = knownRows<number>()
  const actors = knownRows<true>()

  /** Finds or inserts a place and returns its id. Servers that follow different logs may insert that of all logs at once. */
  const placeId = Effect.fnUntraced(function* ({ actors: _actors, members, ...place }: KeyedTerm) {
    const name = termKey(place)
    const known = places.find(name)
    if (known !== undefined) return known
    const found = (yield* findPlace(place))?.id
    const [inserted] = found === undefined ? yield* insertPlace(place) : []
    if (inserted !== undefined) yield* insertKeys(members.map((key) => ({ key, log: place.log, place: inserted.id })))
    const id = found ?? inserted?.id ?? (yield* findPlace(place))?.id ?? 0
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

  /**
   * Adds to the counters of runs, or subtracts. Returns the ids of the runs. In the order of the tables: adjacent rows share pages, and
   * servers lock the counters of all logs in one order.
   */
  const countRuns = Effect.fnUntraced(function* (found: Array<PlacedRun>, sign: 1 | -1) {
    const pace = backgroundPacing(isAwaited)
    found.sort(([place, kind], [other, kindThere]) => place - other || inOrder(kind, kindThere))
    const counters = found.map(([place, , { positions, ...kind }]) => ({
      ...kind,
      place,
      entries: sign * positions.length
    }))
    const ids = new Map<string, number>()
    for (const some of Array.chunksOf(counters, slotCount)) {
      for (const { id, place, ...run } of yield* countAtPlaces(some)) ids.set(`${place} ${kindOf(run)}`, id)
      yield* pace
    }
    return ids
  })

  /** Runs a statement with a slot for each of some rows. Slots that are left repeat the first row. */
  const inSlots = Effect.fnUntraced(function* <Row>(
    rows: ReadonlyArray<Row>,
    statement: (some: ReadonlyArray<Row>) => ReturnType<typeof deleteEmpty>
  ) {
    const pace = backgroundPacing(isAwaited)
    for (const some of Array.chunksOf(rows, slotCount)) {
      yield* Effect.zipRight(statement(slots.map((slot) => some[slot] ?? some[0])), pace)
    }
  })

  /** Adds a batch to the index, unless another server, or another request, has done so since it was read. */
  const post = Effect.fnUntraced(function* (log: string, batch: IndexBatch) {
    yield* addState([{ log, seq: 0 }])
    const [reached] = (yield* lockState({ log })) ?? [yield* readState({ log })]
    if (reached?.seq !== batch.from) return
    const pace = backgroundPacing(isAwaited)
    yield* nameActors(log, batch.actors)
    const found: Array<PlacedRun> = []
    for (const { place: term, runs } of batch.places) {
      const place = yield* placeId(term)
      for (const [kind, run] of runs) found.push([place, kind, run])
      yield* pace
    }
    const ids = yield* countRuns(found, 1)
    for (const some of Array.chunksOf(postingsOf(found, ids), slotCount)) {
      yield* Effect.zipRight(insertPostings(some), pace)
    }
    yield* setState({ log, seq: batch.to })
  })

  /** Locks the index of a log, and returns the number of the last entry in it. */
  const lockReached = Effect.fnUntraced(function* (log: string) {
    const [reached] = (yield* lockState({ log })) ?? [yield* readState({ log })]
    return reached?.seq ?? 0
  })

  /** Takes the entries of a batch out of the index, which holds them and is locked. */
  const unpost = Effect.fnUntraced(function* (batch: IndexBatch) {
    const pace = pacing()
    const found: Array<PlacedRun> = []
    for (const { place: term, runs } of batch.places) {
      const place = places.find(termKey(term)) ?? (yield* findPlace(searchTerm(term)))?.id
      if (place !== undefined) for (const [kind, run] of runs) found.push([place, kind, run])
      yield* pace
    }
    const ids = yield* countRuns(found, -1)
    yield* inSlots(postingsOf(found, ids), (some) =>
      deletePostings({
        ...valuesOf(
          "run",
          some.map(({ run }) => run)
        ),
        ...valuesOf(
          "position",
          some.map(({ position }) => position)
        )
      })
    )
    yield* inSlots([...ids.values()], (some) => deleteEmpty(valuesOf("run", some)))
  })

  return {
    read,
    post,
    lockReached,
    unpost,

    /** The number of a log's last entry by its head, and of the last one in the index. */
    state: first(StateRow)`
      SELECT h.seq AS head, coalesce(i.seq, 0) AS indexed
      FROM audit_heads h LEFT JOIN audit_indexed i ON i.log = h.log WHERE h.log = ${"log"}`,

    /** Logs with entries that are not in the index, and how many. */
    behind: all(BehindRow)`
      SELECT h.log AS log, h.seq - coalesce(i.seq, 0) AS entries FROM audit_heads h LEFT JOIN audit_indexed i ON i.log = h.log
      WHERE h.seq > coalesce(i.seq, 0)`
  } as const
})
