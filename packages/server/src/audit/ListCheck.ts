import type { KeyObject } from "node:crypto"
import { OrgId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pacing } from "../base/EventLoop.js"
import { query, sql } from "../database/Query.js"
import { emptyList, type ListEnd, makeListEnd } from "../keys/ListEnd.js"
import { listLink, type ListedLog, sameLink } from "./Chain.js"

const rowsAtOnce = 200
/** How many missing logs are named. */
const maxMissing = 100

/** A row of the list, and whether its log has a head and entries. */
export const ListRow = Schema.Struct({
  number: Schema.Number,
  log: Schema.String,
  created_at: Schema.String,
  chain: Schema.String,
  found: Schema.Number
})
const OrganizationRow = Schema.Struct({ id: OrgId })
type ListRow = typeof ListRow.Type

export const listColumns = `l.number, l.log, l.created_at, l.chain,
  CASE WHEN EXISTS (SELECT 1 FROM audit_heads h WHERE h.log = l.log)
    AND EXISTS (SELECT 1 FROM audit_entries e WHERE e.log = l.log) THEN 1 ELSE 0 END AS found`

export interface ListCheck {
  /** The number of the first row that does not fit; null if all do. */
  readonly firstInvalid: number | null
  /** Listed logs that do not exist. */
  readonly missing: ReadonlyArray<string>
}

/**
 * Walks the list row by row, in order. A row that does not fit is reported, and those after it are checked from there on, so that
 * a list that was once changed still shows which logs are missing.
 */
export const listWalk = (key: KeyObject) => {
  let last: Pick<ListedLog & ListEnd, "number" | "chain"> = emptyList
  let firstInvalid: number | null = null
  let awaited: number | null = null
  const missing: globalThis.Array<string> = []
  return {
    reached: () => last.number,
    add: (row: ListRow): void => {
      const fits = row.number === last.number + 1 && sameLink(row.chain, listLink(key, last.chain, row))
      if (!fits) firstInvalid ??= last.number + 1
      else if (row.found === 0) missing.push(row.log)
      last = row
    },
    /** Returns whether an end counts rows that may still come, because their logs began meanwhile. Each end is waited for once. */
    awaits: (end: ListEnd | null): boolean => {
      if (end === null || end.number <= last.number || end.number === awaited) return false
      awaited = end.number
      return true
    },
    /** Compares the last row with the end, which no program without the key can write; null if it is not authentic. */
    close: (end: ListEnd | null): ListCheck => {
      if (end === null || end.number !== last.number || !sameLink(end.chain, last.chain)) {
        firstInvalid ??= Math.max(1, Math.min(last.number, end?.number ?? 0) + 1)
      }
      return { firstInvalid, missing }
    }
  } as const
}

const isOrgId = Schema.is(OrgId)

/** Makes an effect that checks the list of audit logs, and that each log exists of the list and of every organization. */
export const makeListCheck = (key: KeyObject) =>
  Effect.gen(function* () {
    const { all } = yield* query
    const end = yield* makeListEnd
    const rowsAfter = all(ListRow)`
      SELECT ${sql([listColumns])} FROM audit_logs l WHERE l.number > ${"after"} ORDER BY l.number LIMIT ${"limit"}`
    /** Organizations, also removed ones, without a log: they are not in the list if the first entry could not be written. */
    const withoutLog = all(OrganizationRow)`
      SELECT o.id AS id FROM organizations o
      WHERE NOT EXISTS (SELECT 1 FROM audit_heads h WHERE h.log = o.id) ORDER BY o.id LIMIT ${"limit"}`
    const readEnd = Effect.match(end.read, { onFailure: () => null, onSuccess: (found) => found ?? emptyList })

    const walked = Effect.gen(function* () {
      const walk = listWalk(key)
      const pace = pacing()
      for (;;) {
        const rows = yield* rowsAfter({ after: walk.reached(), limit: rowsAtOnce })
        for (const row of rows) {
          walk.add(row)
          yield* pace
        }
        if (rows.length === rowsAtOnce) continue
        // Read after the rows: a log may begin meanwhile. Its row is committed with the end, so it is in the next page.
        const found = yield* readEnd
        if (!walk.awaits(found)) return walk.close(found)
      }
    })

    return Effect.zipWith(walked, withoutLog({ limit: maxMissing }), ({ firstInvalid, missing }, organizations) => ({
      firstInvalid,
      missing: Array.dedupe([...missing.filter(isOrgId), ...organizations.map(({ id }) => id)])
        .sort()
        .slice(0, maxMissing)
    }))
  })
