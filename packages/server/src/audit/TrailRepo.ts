import { AuditEntryId, OrgId } from "@coffer/domain/Names"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { placeKey, placesOf } from "./Places.js"

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
export type FoundRow = typeof FoundRow.Type

const EndRow = Schema.Struct({
  head_seq: Schema.NullOr(Schema.Number),
  head_chain: Schema.NullOr(Schema.String),
  head_created_at: Schema.NullOr(Schema.String),
  head_mac: Schema.NullOr(Schema.String),
  first_seq: Schema.NullOr(Schema.Number),
  last_seq: Schema.NullOr(Schema.Number)
})

const PositionRow = Schema.Struct({ position: Schema.Number })
const TotalRow = Schema.Struct({ total: Schema.NullOr(Schema.Number) })
const IdRow = Schema.Struct({ id: Schema.String })
const NumberRow = Schema.Struct({ number: Schema.NullOr(Schema.Number) })
const ActorRow = Schema.Struct({ actor_name: Schema.String, actor_id: Schema.String })

/** Of `audit_times`. */
const positionsInBlock = 1024
const ChainRow = Schema.Struct({ chain: Schema.String })

const columns = `position, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id,
  ip_address, metadata, created_at, chain`

/** Actors that an entry may be of: their ids, and the name of one who has none, as a failed login of an unknown address. */
export interface Actors {
  readonly ids: ReadonlyArray<string>
  readonly nameless: string | null
}

/** What of a log is asked for. Each filter that is given narrows the result. */
export interface Filters {
  /** The log; every log when it is left out. */
  readonly log?: string
  readonly action?: string
  readonly resource_type?: string
  readonly actors?: Actors
  readonly project?: string
  readonly env?: string
  readonly key?: string
}

/** Moments as the database holds them: from `since` on, and before `until`. */
export interface Times {
  readonly since: string | null
  readonly until: string | null
}

/** A range of numbers: of a log when one is asked for, else of positions. Over several logs the times are checked too. */
export interface Range {
  readonly from: number | null
  readonly below: number | null
  readonly times: Times | null
}

const everything: Range = { from: null, below: null, times: null }

/** How many entries a total counts at most, where no counter keeps it. */
export const countedAtMost = 10_000

type Value = string | number

interface Fragment {
  readonly text: string
  readonly values: ReadonlyArray<Value>
}

/** Runs of an index, named by counters `k`; the entries or postings `e` of a run are those that match. */
interface Runs {
  readonly counters: Fragment
  readonly entries: string
  readonly match: string
  readonly order: "seq" | "position"
}

const all = (fragments: ReadonlyArray<Fragment>): Fragment => ({
  text: fragments.map(({ text }) => text).join(" AND "),
  values: fragments.flatMap(({ values }) => values)
})

const equal = (column: string, value: Value | undefined): ReadonlyArray<Fragment> =>
  value === undefined ? [] : [{ text: `${column} = ?`, values: [value] }]

const among = (column: string, values: ReadonlyArray<Value>): Fragment =>
  values.length === 1
    ? { text: `${column} = ?`, values }
    : { text: `${column} IN (${values.map(() => "?").join(", ")})`, values }

const kindOf = ({ action, resource_type }: Filters) => [
  ...equal("k.action", action),
  ...equal("k.resource_type", resource_type)
]

/** The runs of entries of each actor, action and resource type; of every actor, where none is asked for. */
const runsOfKinds = (filters: Filters): Runs => {
  const { actors, log } = filters
  // The totals are those of every log, or of every actor.
  const table = log !== undefined && actors !== undefined ? "audit_counters" : "audit_totals"
  const where = all([
    { text: "k.log = ?", values: [log ?? ""] },
    among("k.actor_id", actors?.ids ?? [""]),
    ...kindOf(filters)
  ])
  const match = [
    ...(log === undefined ? [] : ["e.log = k.log"]),
    ...(actors === undefined ? [] : ["e.actor_id = k.actor_id"]),
    "e.action = k.action AND e.resource_type = k.resource_type"
  ]
  const index = `audit_entries_${log === undefined ? "of" : "by"}_${actors === undefined ? "kind" : "actor"}`
  return {
    counters: { text: `${table} k WHERE ${where.text}`, values: where.values },
    entries: `audit_entries e INDEXED BY ${index}`,
    match: match.join(" AND "),
    order: log === undefined ? "position" : "seq"
  }
}

const runsAt = (places: ReadonlyArray<Fragment>, filters: Filters): Runs => {
  const where = all([...places, ...equal("p.log", filters.log), ...kindOf(filters)])
  return {
    counters: {
      text: `audit_places p CROSS JOIN audit_place_counters k ON k.place = p.id WHERE ${where.text}`,
      values: where.values
    },
    entries: "audit_postings e",
    match: `e.place = k.place AND e.actor_id = k.actor_id AND e.action = k.action AND e.resource_type = k.resource_type`,
    order: "position"
  }
}

const literal = (text: string): Fragment => ({ text, values: [] })

/** The runs at the places of the names. Who has no id does nothing at a place. */
const runsOfNames = (filters: Filters): Runs => {
  const { actors, env, key, log, project } = filters
  return runsAt(
    [
      ...(key === undefined
        ? [
            literal("p.keys = ''"),
            ...(project === undefined ? [] : [literal("p.project <> ''")]),
            ...(project !== undefined || env === undefined ? [] : [literal("p.env <> ''")])
          ]
        : [
            {
              text: `p.id IN (SELECT place FROM audit_place_keys WHERE key = ?${log === undefined ? "" : " AND log = ?"})`,
              values: log === undefined ? [key] : [key, log]
            }
          ]),
      ...equal("p.project", project),
      ...equal("p.env", env),
      ...(actors === undefined ? [] : [among("k.actor_id", actors.ids)])
    ],
    filters
  )
}

const runsOf = (filters: Filters): ReadonlyArray<Runs> => {
  const { actors, env, key, project } = filters
  if (project !== undefined || env !== undefined || key !== undefined) return [runsOfNames(filters)]
  const nameless = actors?.nameless ?? null
  return [
    ...(actors === undefined || actors.ids.length > 0 || nameless === null ? [runsOfKinds(filters)] : []),
    ...(nameless === null ? [] : [runsAt([literal("p.actor_name <> ''"), ...equal("p.actor_name", nameless)], filters)])
  ]
}

/** The part of a run that is in a range. */
const within = ({ below, from, times }: Range, order: string, isEntry: boolean): Fragment => {
  const { since, until } = times ?? { since: null, until: null }
  const moments = all([
    ...(since === null ? [] : [{ text: "a.created_at >= ?", values: [since] }]),
    ...(until === null ? [] : [{ text: "a.created_at < ?", values: [until] }])
  ])
  const { text, values } = all([
    ...(below === null ? [] : [{ text: `${order} < ?`, values: [below] }]),
    ...(from === null ? [] : [{ text: `${order} >= ?`, values: [from] }]),
    ...(moments.text === ""
      ? []
      : [
          isEntry
            ? { text: moments.text.replaceAll("a.", "e."), values: moments.values }
            : {
                text: `EXISTS (SELECT 1 FROM audit_entries a WHERE a.position = e.position AND ${moments.text})`,
                values: moments.values
              }
        ])
  ])
  return text === "" ? { text, values } : { text: ` AND ${text}`, values }
}

const isOfEntries = ({ entries }: Runs): boolean => entries.startsWith("audit_entries")

/**
 * The newest positions of some runs: those of each from its index, and of these the newest. Of runs at places there may be many:
 * only the ones with the newest entries can have one on the page.
 */
const newestOfRuns = (runs: Runs, range: Range, limit: number): Fragment => {
  const { counters, entries, match, order } = runs
  const part = within(range, `e.${order}`, isOfEntries(runs))
  const newest = (count: string) =>
    `SELECT e.position FROM ${entries} WHERE ${match}${part.text} ORDER BY e.${order} DESC LIMIT ${count}`
  const page = `CROSS JOIN audit_entries f ON f.position IN (${newest("?")})`
  return isOfEntries(runs)
    ? {
        text: `SELECT f.position FROM ${counters.text.replace(" WHERE ", ` ${page} WHERE `)} ORDER BY f.position DESC LIMIT ?`,
        values: [...part.values, limit, ...counters.values, limit]
      }
    : {
        text: `SELECT f.position FROM (
            SELECT k.place, k.actor_id, k.action, k.resource_type, (${newest("1")}) AS newest
              FROM ${counters.text} AND newest IS NOT NULL ORDER BY newest DESC LIMIT ?) k
          ${page} ORDER BY f.position DESC LIMIT ?`,
        values: [...part.values, ...counters.values, limit, ...part.values, limit, limit]
      }
}

/** The newest entries of any kind. */
const newest = ({ log }: Filters, range: Range, limit: number): Fragment => {
  const order = log === undefined ? "position" : "seq"
  const part = within(range, order, true)
  const where = [
    ...(log === undefined ? [] : ["log = ?"]),
    ...(part.text === "" ? [] : [part.text.slice(" AND ".length)])
  ]
  return {
    text: `SELECT position FROM audit_entries e ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`}
      ORDER BY ${order} DESC LIMIT ?`,
    values: [...(log === undefined ? [] : [log]), ...part.values, limit]
  }
}

/**
 * The newest entries that fit. It costs the same for any number of entries; and it is one statement, so that no kind is missing
 * beside a newer entry of another.
 */
const newestThatFit = (all: ReadonlyArray<Fragment>, limit: number): Fragment => ({
  text: `SELECT position FROM audit_entries WHERE position IN (${
    all.length === 1
      ? (all[0]?.text ?? "")
      : `SELECT position FROM (${all.map(({ text }) => `SELECT * FROM (${text})`).join(" UNION ALL ")})
          ORDER BY position DESC LIMIT ?`
  }) ORDER BY position DESC`,
  values: [...all.flatMap(({ values }) => values), ...(all.length === 1 ? [] : [limit])]
})

const isWhole = ({ action, actors, env, key, project, resource_type }: Filters): boolean =>
  [action, actors, env, key, project, resource_type].every((filter) => filter === undefined)

/** Reads the audit tables, on the read-only connection. */
export class TrailRepo extends Effect.Service<TrailRepo>()("@coffer/server/TrailRepo", {
  effect: Effect.gen(function* () {
    const reader = yield* Reader
    const entries = reader.rows(EntryRow)
    const found = reader.rows(FoundRow)
    const ends = reader.rows(EndRow)
    const chains = reader.rows(ChainRow)
    const ids = reader.rows(IdRow)
    const positionsNow = reader.rowsNow(PositionRow)
    const totalsNow = reader.rowsNow(TotalRow)
    const numbers = reader.rowsNow(NumberRow)
    const names = reader.rowsNow(ActorRow)
    const manyNames = reader.manyRows(ActorRow)
    const posted = reader.rowsNow(NumberRow)

    const numberOf = (text: string, values: ReadonlyArray<Value>): number | null =>
      numbers(text, values)[0]?.number ?? null

    /** The position of the first entry of a log from a number on. */
    const positionFrom = (log: string, seq: number): number =>
      numberOf(`SELECT position AS number FROM audit_entries WHERE log = ? AND seq >= ? ORDER BY seq LIMIT 1`, [
        log,
        seq
      ]) ?? Number.MAX_SAFE_INTEGER

    /** A range of a log's numbers as one of positions, where the runs are in the order of those. */
    const rangeFor = (runs: Runs, { log }: Filters, range: Range): Range =>
      log === undefined || runs.order === "seq"
        ? range
        : {
            from: range.from === null ? null : positionFrom(log, range.from),
            below: range.below === null ? null : positionFrom(log, range.below),
            times: range.times
          }

    /** The first number of a log whose entry is not before a moment: time never goes back in a log. */
    const seqFrom = (log: string, moment: string): number => {
      let low = numberOf(`SELECT min(seq) AS number FROM audit_entries WHERE log = ?`, [log]) ?? 1
      let high = (numberOf(`SELECT max(seq) AS number FROM audit_entries WHERE log = ?`, [log]) ?? 0) + 1
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const isBefore = numberOf(
          `SELECT created_at < ? AS number FROM audit_entries WHERE log = ? AND seq >= ? ORDER BY seq LIMIT 1`,
          [moment, log, middle]
        )
        if (isBefore === 1) low = middle + 1
        else high = middle
      }
      return low
    }

    const smallest = (...found: ReadonlyArray<number | null>): number | null => {
      const known = found.filter((number) => number !== null)
      return known.length === 0 ? null : Math.min(...known)
    }

    const totalOf = ({ text, values }: Fragment): number => totalsNow(text, values)[0]?.total ?? 0

    /** Counts no more entries than the limit of a count. */
    const counted = (filters: Filters, range: Range): number => {
      const limit = countedAtMost + 1
      if (isWhole(filters)) {
        const part = within(range, "e.position", true)
        return totalOf({
          text: `SELECT count(*) AS total FROM (SELECT 1 FROM audit_entries e WHERE true${part.text} LIMIT ?)`,
          values: [...part.values, limit]
        })
      }
      return runsOf(filters).reduce((sum, runs) => {
        const part = within(rangeFor(runs, filters, range), `e.${runs.order}`, isOfEntries(runs))
        return (
          sum +
          totalOf({
            text: `SELECT count(*) AS total FROM (SELECT 1 FROM ${runs.counters.text.replace(
              " WHERE ",
              ` CROSS JOIN ${runs.entries} ON ${runs.match}${part.text} WHERE `
            )} LIMIT ?)`,
            values: [...part.values, ...runs.counters.values, limit]
          })
        )
      }, 0)
    }

    return {
      /** The range of a time, and of what is below a number. */
      rangeOf: (log: string | undefined, times: Times, below: number | null) =>
        Effect.sync((): Range => {
          const { since, until } = times
          if (since === null && until === null) return { ...everything, below }
          if (log !== undefined) {
            return {
              from: since === null ? null : seqFrom(log, since),
              below: smallest(below, until === null ? null : seqFrom(log, until)),
              times: null
            }
          }
          const first =
            since === null
              ? null
              : (numberOf(`SELECT min(block) AS number FROM audit_times WHERE newest >= ?`, [since]) ?? 2 ** 42)
          const last =
            until === null
              ? null
              : (numberOf(`SELECT max(block) AS number FROM audit_times WHERE oldest < ?`, [until]) ?? -1)
          return {
            from: first === null ? null : first * positionsInBlock,
            below: smallest(below, last === null ? null : (last + 1) * positionsInBlock),
            times
          }
        }),

      /** The positions of entries, newest first, in a range of numbers of the log, or of positions in the order of commit. */
      page: (filters: Filters, range: Range, limit: number): ReadonlyArray<number> => {
        const { text, values } = isWhole(filters)
          ? newest(filters, range, limit)
          : newestThatFit(
              runsOf(filters).map((runs) => newestOfRuns(runs, rangeFor(runs, filters, range), limit)),
              limit
            )
        return positionsNow(text, values).map(({ position }) => position)
      },

      /** The entries at some positions, newest first. They never change: they need not be read with their positions. */
      at: (positions: ReadonlyArray<number>) =>
        entries(
          `SELECT ${columns} FROM audit_entries WHERE position IN (${positions.map(() => "?").join(", ")})
            ORDER BY position DESC`,
          positions
        ),

      /** How many entries fit; in a range of time, of more than `countedAtMost` no more are counted. */
      total: (filters: Filters, range: Range) =>
        Effect.sync(() => {
          if (range.from === null && range.below === null) {
            const sources = isWhole(filters) ? [runsOfKinds(filters)] : runsOf(filters)
            return sources.reduce(
              (sum, { counters }) =>
                sum +
                totalOf({ text: `SELECT sum(k.entries) AS total FROM ${counters.text}`, values: counters.values }),
              0
            )
          }
          if (isWhole(filters) && filters.log !== undefined) {
            const [from, below] = [range.from ?? 1, range.below ?? seqFrom(filters.log, "~")]
            return Math.max(0, below - from)
          }
          return counted(filters, range)
        }),

      /** Who has an id or a name in a log, or in any. */
      actors: (log: string | undefined, actor: string) =>
        Effect.sync(() => {
          const scope = log === undefined ? "" : " AND log = ?"
          const values = log === undefined ? [actor] : [actor, log]
          const byName = names(
            `SELECT DISTINCT actor_name, actor_id FROM audit_actors WHERE actor_name = ?${scope}`,
            values
          )
          if (byName.length > 0) return byName
          // No id is empty: '' stands for none.
          return log === undefined
            ? names(`SELECT actor_name, actor_id FROM audit_actors WHERE actor_id = ? AND actor_id <> '' LIMIT 1`, [
                actor
              ])
            : names(
                `SELECT actor_name, actor_id FROM audit_actors WHERE log = ? AND actor_id = ? AND actor_id <> '' LIMIT 1`,
                [log, actor]
              )
        }),

      /**
       * Who has an id or a name and could be in a log, whether or not there is an entry: whoever is or was a member or a service
       * account of the organization; for every log, any user or service account.
       */
      silentActors: (log: string | undefined, actor: string) =>
        Effect.sync(() => {
          const [isMember, isOfOrg] =
            log === undefined
              ? ["", ""]
              : [" AND EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.org_id = ?)", " AND org_id = ?"]
          const values = log === undefined ? [actor, actor] : [actor, actor, log]
          return names(
            `SELECT u.email AS actor_name, u.id AS actor_id FROM users u WHERE (u.email = ? OR u.id = ?)${isMember}
              UNION ALL SELECT name, id FROM service_accounts WHERE (name = ? OR id = ?)${isOfOrg}`,
            [...values, ...values]
          )
        }),

      /** Names of actors in a log, or in any, and of those who could be: as many as are worth comparing. */
      actorNames: (log: string | undefined) => {
        const [isOfLog, isOfOrg, values] =
          log === undefined ? ["", "", []] : ["WHERE log = ?", "AND org_id = ?", [log, log, log]]
        return manyNames(
          `SELECT actor_name, '' AS actor_id FROM (SELECT DISTINCT actor_name FROM audit_actors ${isOfLog} LIMIT 5000)
            UNION SELECT email, '' FROM (SELECT email FROM users ${
              log === undefined
                ? ""
                : "WHERE id IN (SELECT user_id FROM members WHERE removed_at IS NULL AND org_id = ?)"
            } LIMIT 5000)
            UNION SELECT name, '' FROM (
              SELECT name FROM service_accounts WHERE removed_at IS NULL ${isOfOrg} LIMIT 5000)`,
          values
        )
      },

      /**
       * Whether an entry is found by what the chain vouches for: at each of its places, by its actor and by its time. The keys
       * of a set are looked up once: `checked` remembers the sets.
       */
      isFound: (
        { action, actor_id, actor_name, created_at, log, metadata, position, resource_type }: FoundRow,
        checked: Set<string>
      ): boolean =>
        posted(
          `SELECT count(*) AS number FROM audit_times WHERE block = ? AND oldest <= ? AND newest >= ?
            AND EXISTS (SELECT 1 FROM audit_actors WHERE actor_name = ? AND log = ? AND actor_id = ?)`,
          [Math.floor(position / positionsInBlock), created_at, created_at, actor_name, log, actor_id ?? ""]
        )[0]?.number === 1 &&
        placesOf({ actor_id, actor_name, metadata }).every((place) => {
          const name = placeKey(place)
          const members = checked.has(name) ? [] : place.members
          checked.add(name)
          const found = posted(
            `SELECT count(*) AS number FROM audit_places p JOIN audit_postings o ON o.place = p.id
                WHERE p.log = ? AND p.project = ? AND p.env = ? AND p.keys = ? AND p.actor_name = ?
                  AND o.actor_id = ? AND o.action = ? AND o.resource_type = ? AND o.position = ?
                  AND (SELECT count(*) FROM json_each(?) j JOIN audit_place_keys s
                    ON s.key = j.value AND s.log = p.log AND s.place = p.id) = ?`,
            [
              ...[log, place.project, place.env, place.keys, place.actor_name],
              ...[actor_id ?? "", action, resource_type, position],
              ...[JSON.stringify(members), members.length]
            ]
          )
          return found[0]?.number === 1
        }),

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
