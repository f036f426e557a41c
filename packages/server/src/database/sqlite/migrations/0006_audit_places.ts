import * as SqlClient from "@effect/sql/SqlClient"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { rowsOf } from "../../Rows.js"

// Copied from the audit log of that time: what this migration writes must not follow later changes of the index.

/**
 * A term of the search index (`audit_places`): a project and environment, these with a set of keys, or the name of an actor
 * without an id. Absent parts are ''.
 */
interface AuditPlace {
  readonly project: string
  readonly env: string
  /** The key, or the digest of several keys. */
  readonly keys: string
  readonly actor_name: string
}

/** A place with its keys. */
interface KeyedPlace extends AuditPlace {
  readonly members: ReadonlyArray<string>
}

const Metadata = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decode = Schema.decodeUnknownOption(Metadata)

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const keysOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.map((each) => (Predicate.hasProperty(each, "key") ? textOf(each.key) : "")) : []

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const digest = (keys: ReadonlyArray<string>): string => {
  const [first = "", ...rest] = keys
  return rest.length === 0 ? first : `#${createHash("sha256").update(keys.join("\n")).digest("base64url")}`
}

/** The places of an entry. They follow from fields that the chain authenticates, so verification can check the index. */
const placesOf = (entry: {
  readonly actor_id: string | null
  readonly actor_name: string
  readonly metadata: string
}): ReadonlyArray<KeyedPlace> => {
  const metadata = Option.getOrElse(decode(entry.metadata), (): Readonly<Record<string, unknown>> => ({}))
  const [project, env] = [textOf(metadata["project"]), textOf(metadata["env"])]
  const found = [textOf(metadata["key"]), ...keysOf(metadata["keys"])].filter((key) => key !== "")
  // `Array.dedupe` is quadratic, and an entry can hold 2,000 keys.
  const members = [...new Set(found)].sort(inOrder)
  const places: Array<KeyedPlace> = []
  if (project !== "" || env !== "") places.push({ project, env, keys: "", actor_name: "", members: [] })
  if (members.length > 0) places.push({ project, env, keys: digest(members), actor_name: "", members })
  if (entry.actor_id === null) {
    places.push({ project: "", env: "", keys: "", actor_name: entry.actor_name, members: [] })
  }
  return places
}

/** Identifies a place within its log. */
const placeKey = ({ actor_name, env, keys, project }: AuditPlace): string =>
  JSON.stringify([project, env, keys, actor_name])

/**
 * Search indexes of the audit log, derived from its metadata. A *place* is a project and environment, a set of keys in
 * them, or the name of an actor without an id. Postings list the entries of a place, and pages merge runs of them
 * (0002). `audit_times` maps times to ranges of positions, even if the clock was set back.
 */
const statements = [
  `CREATE TABLE audit_places (
    id INTEGER PRIMARY KEY,
    log TEXT NOT NULL,
    project TEXT NOT NULL,
    env TEXT NOT NULL,
    keys TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    UNIQUE (log, project, env, keys, actor_name)
  ) STRICT`,
  `CREATE INDEX audit_places_by_project ON audit_places (project, log) WHERE keys = '' AND project <> ''`,
  `CREATE INDEX audit_places_by_env ON audit_places (env, log) WHERE keys = '' AND env <> ''`,
  `CREATE INDEX audit_places_by_actor ON audit_places (actor_name, log) WHERE actor_name <> ''`,
  `CREATE TABLE audit_place_keys (
    key TEXT NOT NULL,
    log TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES audit_places (id),
    PRIMARY KEY (key, log, place)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE audit_postings (
    place INTEGER NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (place, actor_id, action, resource_type, position)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE audit_place_counters (
    place INTEGER NOT NULL,
    actor_id TEXT NOT NULL,
    action TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (place, actor_id, action, resource_type)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE audit_actors (
    log TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    PRIMARY KEY (log, actor_name, actor_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX audit_actors_by_name ON audit_actors (actor_name)`,
  `CREATE INDEX audit_actors_by_id ON audit_actors (actor_id)`,
  `CREATE TABLE audit_times (
    block INTEGER PRIMARY KEY,
    oldest TEXT NOT NULL,
    newest TEXT NOT NULL
  ) STRICT`,
  `CREATE TRIGGER audit_times_of_new AFTER INSERT ON audit_entries
    BEGIN
      INSERT INTO audit_times (block, oldest, newest) VALUES (NEW.position >> 10, NEW.created_at, NEW.created_at)
        ON CONFLICT (block) DO UPDATE SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)
          WHERE excluded.oldest < oldest OR excluded.newest > newest;
    END`
]

/** How many entries one statement indexes. */
const stride = 5_000
const progressEvery = 100_000

const EntryRow = Schema.Struct({
  position: Schema.Number,
  log: Schema.String,
  actor_id: Schema.NullOr(Schema.String),
  actor_name: Schema.String,
  action: Schema.String,
  resource_type: Schema.String,
  metadata: Schema.String
})
const CountRow = Schema.Struct({ count: Schema.Number })

/**
 * Indexes the existing entries. Only refusals among them name a project and an environment; the others are indexed by
 * their keys.
 */
const postAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [{ count } = { count: 0 }] = yield* rowsOf(CountRow)(yield* sql`SELECT count(*) AS count FROM audit_entries`)
  const ids = new Map<string, number>()
  let done = 0
  let position = -1
  for (;;) {
    const rows = yield* rowsOf(EntryRow)(
      yield* sql`SELECT position, log, actor_id, actor_name, action, resource_type, metadata FROM audit_entries
        WHERE position > ${position} ORDER BY position LIMIT ${stride}`
    )
    const places: Array<ReadonlyArray<string | number>> = []
    const members: Array<ReadonlyArray<string | number>> = []
    const postings: Array<ReadonlyArray<string | number>> = []
    for (const row of rows) {
      for (const place of placesOf(row)) {
        const name = row.log + placeKey(place)
        let id = ids.get(name)
        if (id === undefined) {
          ids.set(name, (id = ids.size + 1))
          places.push([id, row.log, place.project, place.env, place.keys, place.actor_name])
          for (const key of place.members) members.push([key, row.log, id])
        }
        postings.push([id, row.actor_id ?? "", row.action, row.resource_type, row.position])
      }
      position = row.position
    }
    yield* sql`INSERT INTO audit_places (id, log, project, env, keys, actor_name)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
      FROM json_each(${JSON.stringify(places)})`
    yield* sql`INSERT INTO audit_place_keys (key, log, place)
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(members)})`
    yield* sql`INSERT INTO audit_postings (place, actor_id, action, resource_type, position)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM json_each(${JSON.stringify(postings)}) ORDER BY 1, 2, 3, 4, 5`
    done += rows.length
    if (Math.floor(done / progressEvery) > Math.floor((done - rows.length) / progressEvery)) {
      yield* Effect.logInfo(`indexing the audit log: ${done} of ${count} entries`)
    }
    if (rows.length < stride) break
  }
  yield* sql`INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries)
    SELECT place, actor_id, action, resource_type, count(*) FROM audit_postings GROUP BY 1, 2, 3, 4`
  yield* sql`INSERT INTO audit_actors (log, actor_name, actor_id)
    SELECT DISTINCT log, actor_name, coalesce(actor_id, '') FROM audit_entries`
  yield* sql`INSERT INTO audit_times (block, oldest, newest)
    SELECT position >> 10, min(created_at), max(created_at) FROM audit_entries GROUP BY 1`
})

export const auditPlaces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  yield* postAll
})
