import {
  type FoundKey,
  type FoundKeyPage,
  keyCursorOf,
  type KeyPosition,
  keyPositionOf
} from "@coffer/domain/secrets/FoundKey"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import type { KeyReach } from "../../access/place/KeyReach.js"
import { listedKeys } from "../../access/Rights.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { kindOf } from "../../keys/Envelope.js"
import { environmentsRepo, type PlacedEnvironment } from "../../directory/environments/Repo.js"
import { type KeyRange, type KeyRow, keySearchRepo, rangesAtOnce } from "./Repo.js"

const defaultLimit = 100
const placesAtOnce = 200

/** The most keys that a request may look at. Those of a prefix are found by an index, and cost only their place. */
const budget = 100_000
const costOfPlace = 20
/** A decision compares a place with each rule of the caller. */
const rulesPerKey = 2
/** The keys that one statement goes through. */
const keysAtOnce = 4_000

/** A prefix is looked up as it was typed, in upper case and in lower case. */
const spellings = 3

interface Request {
  readonly query: string
  readonly limit?: number
  readonly after?: string
}

/** An environment with the keys that the caller may list; null: all. */
interface ListedEnvironment extends PlacedEnvironment {
  readonly listed: KeyReach | null
}

/** A part of the environments that one statement searches. One of which the caller may list some keys stands alone. */
interface Batch {
  readonly places: Array.NonEmptyArray<ListedEnvironment>
  readonly keys: number
}

/** The smallest text after a name or key: a hyphen is the smallest character of both. */
const after = (name: string): string => `${name}-`
/** Greater than every text that begins like this. */
const end = (prefix: string): string => `${prefix}~`

const beginning = { project: "", env: "", key: "" }

/** Groups environments, so that a statement neither has too many ranges nor goes through too many keys. */
const batchesOf = (places: ReadonlyArray<ListedEnvironment>, part: KeyPosition["part"]): ReadonlyArray<Batch> => {
  const most = part === "prefix" ? rangesAtOnce / spellings : rangesAtOnce
  const batches: Array<Batch> = []
  for (const place of places) {
    const last = batches.at(-1)
    const keys = part === "prefix" && place.listed === null ? 0 : place.secrets
    const isAlone = place.listed !== null || last?.places[0].listed !== null
    if (last === undefined || isAlone || last.places.length >= most || last.keys + keys > keysAtOnce) {
      batches.push({ places: [place], keys })
    } else {
      batches[batches.length - 1] = { places: Array.append(last.places, place), keys: last.keys + keys }
    }
  }
  return batches
}

const foundKeyOf = (
  { env, project }: PlacedEnvironment,
  { declared, format, key, updated_at, version }: KeyRow
): FoundKey => ({
  project,
  env,
  key,
  version,
  updated_at,
  ...(format !== null && kindOf({ format }) === "reference" && { kind: "reference" }),
  declared: declared === 1
})

/** Finds keys by a part of their name in all environments that the caller may list. */
export class KeySearch extends Effect.Service<KeySearch>()("@coffer/server/KeySearch", {
  effect: Effect.gen(function* () {
    const repo = yield* keySearchRepo
    const environments = yield* environmentsRepo

    /** Reads the found keys of a batch of environments. The first of them may be continued at a key. */
    const read = Effect.fnUntraced(function* (
      part: KeyPosition["part"],
      places: Array.NonEmptyReadonlyArray<PlacedEnvironment>,
      fromKey: string,
      text: { readonly typed: string; readonly upper: string; readonly lower: string },
      limit: number
    ) {
      const prefixes = [...new Set([text.typed, text.upper, text.lower])].sort()
      const spans =
        part === "prefix" ? prefixes.map((from) => ({ from, below: end(from) })) : [{ from: "", below: end("") }]
      const ranges = places.flatMap((place, index) =>
        spans.map(({ below, from }) => {
          const range: KeyRange = {
            projectId: place.project_id,
            envId: place.env_id,
            from: index === 0 && fromKey > from ? fromKey : from,
            below
          }
          return { place, range }
        })
      )
      const asked = ranges.map(({ range }) => range)
      const rows = yield* part === "prefix" ? repo.within(asked, limit) : repo.containing(asked, text, limit)
      return rows.flatMap((row) => {
        const range = ranges[row.slot]
        return range === undefined ? [] : [foundKeyOf(range.place, row)]
      })
    })

    /** As `read`, without the keys that the caller may not list: goes on until enough of the others are found. */
    const readListed = Effect.fnUntraced(function* (
      part: KeyPosition["part"],
      places: Batch["places"],
      fromKey: string,
      text: Parameters<typeof read>[3],
      limit: number
    ) {
      const [{ listed }] = places
      if (listed === null) return yield* read(part, places, fromKey, text, limit)
      const found: Array<FoundKey> = []
      const pace = pacing()
      for (let from = fromKey; found.length < limit;) {
        const rows = yield* read(part, places, from, text, limit)
        // Behind the limit, a range may lack some of its keys.
        const some = rows.slice(0, limit)
        found.push(...some.filter(({ key }) => listed.has(key)))
        const last = some.at(-1)
        if (last === undefined || rows.length < limit) break
        from = after(last.key)
        yield* pace
      }
      return found
    })

    /** The environments that hold secrets, of those of which the caller may list keys. */
    const searchable = (place: Place<"key.find">, rows: ReadonlyArray<PlacedEnvironment>) =>
      Effect.map(
        forEachInSlices(rows, (row) =>
          Effect.sync((): ReadonlyArray<ListedEnvironment> => {
            const listed = row.secrets === 0 ? undefined : listedKeys(place, row.project_id, row)
            return listed === undefined ? [] : [{ ...row, listed }]
          })
        ),
        (found) => found.flat()
      )

    /**
     * A page of the keys that begin with the query, and then of those that contain it. Rights are decided before keys are read,
     * so that neither a page nor its cursor depends on what the caller may not list.
     */
    const find = method("KeySearch.find", function* (place: Place<"key.find">, request: Request) {
      const { limit = defaultLimit, query: typed } = request
      const text = { typed, upper: typed.toUpperCase(), lower: typed.toLowerCase() }
      const onlyId = place.actor.type === "service_account" ? (place.actor.project?.id ?? null) : null
      const found: Array<{ readonly part: KeyPosition["part"]; readonly key: FoundKey }> = []
      const pace = pacing()
      const answer = (next: KeyPosition | null): FoundKeyPage => ({
        data: found.slice(0, limit).map(({ key }) => key),
        pagination: { limit, has_next: next !== null, next_cursor: next === null ? null : keyCursorOf(next) }
      })

      let left = budget
      for (let at = keyPositionOf(request.after); ;) {
        const { part } = at
        const rows = yield* environments.ofOrg({ ...at, orgId: place.org.id, onlyId, limit: placesAtOnce })
        for (const { keys, places } of batchesOf(yield* searchable(place, rows), part)) {
          const [head] = places
          const from = head.project === at.project && head.env === at.env ? at.key : ""
          for (const key of yield* readListed(part, places, from, text, limit + 1)) found.push({ part, key })
          const shown = found[limit - 1]
          if (found.length > limit && shown !== undefined) {
            const { env, key, project } = shown.key
            return answer({ part: shown.part, project, env, key: after(key) })
          }
          left -= keys
          const { env, project } = Array.lastNonEmpty(places)
          if (left <= 0) return answer({ part, project, env: after(env), key: "" })
          yield* pace
        }
        left -= rows.length * (costOfPlace + place.grants.length / rulesPerKey)
        const last = rows.length < placesAtOnce ? undefined : rows.at(-1)
        if (last !== undefined) at = { part, project: last.project, env: after(last.env), key: "" }
        else if (part === "prefix") at = { part: "substring", ...beginning }
        else return answer(null)
        if (left <= 0) return answer(at)
      }
    })

    return { find } as const
  })
}) {}
