import { listed, valuesOf } from "../database/ListedValues.js"
import { joined, type Sql, sql, type Values } from "../database/Query.js"

/** The actors of a filter: ids, and the name of an actor without one, such as a failed login of an unknown address. */
export interface Actors {
  readonly ids: ReadonlyArray<string>
  readonly nameless: string | null
}

/** Filters of a search; each one narrows the result. */
export interface Filters {
  /** All logs if undefined. */
  readonly log?: string
  readonly action?: string
  readonly resource_type?: string
  readonly actors?: Actors
  readonly project?: string
  readonly env?: string
  readonly key?: string
}

/** A half-open span in the database's text form: `since` <= time < `until`. */
export interface Times {
  readonly since: string | null
  readonly until: string | null
}

export interface Bounds {
  readonly from: number | null
  readonly below: number | null
}

/** A half-open range: of sequence numbers of one log, or of positions over all logs, where the times are checked as well. */
export interface Range extends Bounds {
  readonly times: Times | null
}

const both = (parts: ReadonlyArray<Sql<string>>): Sql<string> => joined(parts, sql` AND `)

/** The condition of a filter, if it is set. */
const equal = (
  filters: Filters,
  name: "log" | "action" | "resource_type" | "project" | "env",
  column: Sql<never>
): ReadonlyArray<Sql<string>> => (filters[name] === undefined ? [] : [sql`${column} = ${name}`])

/**
 * Selects runs of the search index by their places `p` and counters `k`. A run is the postings `e` of one counter row, so a page takes the newest of each run, and a total the sum of the counters.
 */
type Runs = Sql<string>

const counters = sql`audit_places p CROSS JOIN audit_place_counters k`
const match = sql`e.run = k.id`

/** In the whole log and in all logs, '' is not an actor without an id, but every actor. */
const ofActors = ({ ids }: Actors): Sql<string> =>
  ids.length === 0 ? sql`1 = 0` : sql`k.actor_id <> '' AND k.actor_id IN (${listed("actor", ids)})`

const runsAt = (places: ReadonlyArray<Sql<string>>, filters: Filters): Runs =>
  both([
    sql`k.place = p.id`,
    ...places,
    ...equal(filters, "action", sql`k.action`),
    ...equal(filters, "resource_type", sql`k.resource_type`)
  ])

/** Runs of the whole log, or of all logs. */
const runsOfKinds = (filters: Filters): Runs =>
  runsAt(
    [
      filters.log === undefined ? sql`p.log = ''` : sql`p.log = ${"log"}`,
      sql`p.project = '' AND p.env = '' AND p.keys = '' AND p.actor_name = ''`,
      filters.actors === undefined ? sql`k.actor_id = ''` : ofActors(filters.actors)
    ],
    filters
  )

/** Runs at the places that match the names. Actors without an id have no entries at places. */
const runsOfNames = (filters: Filters): Runs => {
  const { actors, env, key, project } = filters
  return runsAt(
    [
      ...(key === undefined
        ? [
            sql`p.keys = ''`,
            ...(project === undefined ? [] : [sql`p.project <> ''`]),
            ...(project !== undefined || env === undefined ? [] : [sql`p.env <> ''`])
          ]
        : [
            sql`p.id IN (SELECT place FROM audit_place_keys WHERE ${both([
              sql`key = ${"key"}`,
              ...equal(filters, "log", sql`log`)
            ])})`
          ]),
      ...equal(filters, "log", sql`p.log`),
      ...equal(filters, "project", sql`p.project`),
      ...equal(filters, "env", sql`p.env`),
      ...(actors === undefined ? [] : [ofActors(actors)])
    ],
    filters
  )
}

const runsOf = (filters: Filters): ReadonlyArray<Runs> => {
  const { actors, env, key, project } = filters
  if (project !== undefined || env !== undefined || key !== undefined) return [runsOfNames(filters)]
  const nameless = actors?.nameless ?? null
  const ofLog = equal(filters, "log", sql`p.log`)
  return [
    ...(actors === undefined || actors.ids.length > 0 || nameless === null ? [runsOfKinds(filters)] : []),
    ...(nameless === null
      ? []
      : [runsAt([sql`p.actor_name <> '' AND p.actor_name = ${"nameless"}`, ...ofLog], filters)])
  ]
}

/** The conditions that limit entries to a range: of their numbers, or of positions, which postings have. */
const within = ({ below, from, times }: Range, order: "seq" | "position", isOfEntries: boolean): Sql<string> => {
  const entry = isOfEntries ? sql`e` : sql`a`
  const column = order === "seq" ? sql`e.seq` : sql`e.position`
  const moments = [
    ...(times === null || times.since === null ? [] : [sql`${entry}.created_at >= ${"since"}`]),
    ...(times === null || times.until === null ? [] : [sql`${entry}.created_at < ${"until"}`])
  ]
  const conditions = [
    ...(below === null ? [] : [sql`${column} < ${`below_${order}`}`]),
    ...(from === null ? [] : [sql`${column} >= ${`from_${order}`}`]),
    ...(isOfEntries || moments.length === 0
      ? moments
      : [sql`EXISTS (SELECT 1 FROM audit_entries a WHERE a.position = e.position AND ${both(moments)})`])
  ]
  return joined(
    conditions.map((condition) => sql` AND ${condition}`),
    sql``
  )
}

/** Joins the entries `f` at the positions that a query selects for each row. */
type JoinEach = (positions: Sql<string>) => { readonly join: Sql<string>; readonly condition: Sql<string> }

/** The join for an engine with LATERAL: it would run the query below for each pair of a row and an entry. */
const joinLateral: JoinEach = (positions) => ({
  join: sql`CROSS JOIN LATERAL (${positions}) AS f`,
  condition: sql`true`
})

/** The join for an engine without LATERAL, which runs the query once for each row. */
const joinByPosition: JoinEach = (positions) => ({
  join: sql`CROSS JOIN audit_entries f`,
  condition: sql`f.position IN (${positions})`
})

/**
 * The newest positions of some runs: the newest of each run from its index, then the newest of all. There may be many runs, so
 * only as many as the page has rows are read: those with the newest entries.
 */
const newestOfRuns = (where: Runs, range: Range, joinEach: JoinEach): Sql<string> => {
  const newest = (count: Sql<string>) =>
    sql`SELECT e.position FROM audit_postings e WHERE ${match}${within(range, "position", false)}
      ORDER BY e.position DESC LIMIT ${count}`
  const { condition, join } = joinEach(newest(sql`${"limit"}`))
  return sql`SELECT f.position FROM (
      SELECT k.id, (${newest(sql`1`)}) AS newest
        FROM ${counters} WHERE ${where} ORDER BY newest DESC NULLS LAST LIMIT ${"limit"}) k
    ${join} WHERE ${condition} ORDER BY f.position DESC LIMIT ${"limit"}`
}

/** The newest positions without filters. */
const newest = ({ log }: Filters, range: Range): Sql<string> =>
  log === undefined
    ? sql`SELECT e.position FROM audit_entries e WHERE true${within(range, "position", true)}
        ORDER BY e.position DESC LIMIT ${"limit"}`
    : sql`SELECT e.position FROM audit_entries e WHERE e.log = ${"log"}${within(range, "seq", true)}
        ORDER BY e.seq DESC LIMIT ${"limit"}`

/**
 * The newest positions that match. The cost does not depend on the number of entries. It is one statement: with several, an
 * entry committed in between could appear without older ones of other runs.
 */
const newestThatFit = (found: ReadonlyArray<Sql<string>>): Sql<string> => {
  const each = joined(
    found.map((one) => (found.length === 1 ? one : sql`SELECT * FROM (${one}) AS one`)),
    sql` UNION ALL `
  )
  return sql`SELECT position FROM audit_entries WHERE position IN (${
    found.length === 1 ? each : sql`SELECT position FROM (${each}) AS every ORDER BY position DESC LIMIT ${"limit"}`
  }) ORDER BY position DESC`
}

/** Whether no filter but the log is set. Otherwise the search orders by position. */
export const isWhole = ({ action, actors, env, key, project, resource_type }: Filters): boolean =>
  [action, actors, env, key, project, resource_type].every((filter) => filter === undefined)

/** Selects the positions of a page. */
export const pageStatement = (filters: Filters, range: Range, hasLateral: boolean): Sql<string> => {
  if (isWhole(filters)) return newest(filters, range)
  const joinEach = hasLateral ? joinLateral : joinByPosition
  return newestThatFit(runsOf(filters).map((runs) => newestOfRuns(runs, range, joinEach)))
}

/** Statements whose sum is the total by the counters. */
export const totalStatements = (filters: Filters): ReadonlyArray<Sql<string>> =>
  runsOf(filters).map((where) => sql`SELECT coalesce(sum(k.entries), 0) AS total FROM ${counters} WHERE ${where}`)

/** Statements that select the positions of matching entries in a range, in no order, each up to the limit. An entry is found once. */
export const matchStatements = (filters: Filters, range: Range): ReadonlyArray<Sql<string>> =>
  runsOf(filters).map(
    (where) =>
      sql`SELECT e.position FROM ${counters} CROSS JOIN audit_postings e
        WHERE ${where} AND ${match}${within(range, "position", false)} LIMIT ${"limit"}`
  )

/** Statements whose sum is the number of matching entries in a range; each counts up to the limit. */
export const countStatements = (filters: Filters, range: Range): ReadonlyArray<Sql<string>> =>
  isWhole(filters)
    ? [
        sql`SELECT count(*) AS total FROM (SELECT 1 FROM audit_entries e
          WHERE true${within(range, "position", true)} LIMIT ${"limit"}) AS found`
      ]
    : matchStatements(filters, range).map((found) => sql`SELECT count(*) AS total FROM (${found}) AS found`)

/** The parameter values of the statements above. `positions` are the bounds of the range as positions. */
export const searchValues = (filters: Filters, range: Range, positions: Bounds, limit: number): Values<string> => ({
  log: filters.log ?? null,
  action: filters.action ?? null,
  resource_type: filters.resource_type ?? null,
  project: filters.project ?? null,
  env: filters.env ?? null,
  key: filters.key ?? null,
  nameless: filters.actors?.nameless ?? null,
  ...valuesOf("actor", filters.actors?.ids ?? []),
  since: range.times?.since ?? null,
  until: range.times?.until ?? null,
  from_seq: range.from,
  below_seq: range.below,
  from_position: positions.from,
  below_position: positions.below,
  limit
})
