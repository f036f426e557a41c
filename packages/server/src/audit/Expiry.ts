import type { OrgId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { timestamp } from "../base/Time.js"
import type { Transaction } from "../database/Database.js"
import { batchSize, eachRow } from "../database/jobs/EachRow.js"
import type { Fenced } from "../database/jobs/Lease.js"
import { query, type Sql, sql } from "../database/Query.js"
import { IdRow } from "../database/Rows.js"
import { type AuditEvent, type AuditSource, systemSource } from "./AuditEvent.js"
import { AuditLog } from "./AuditLog.js"

interface ExpiringRow {
  readonly id: string
  /** Null if its place was removed: the row is marked, without an entry. */
  readonly org_id: OrgId | null
  readonly expires_at: string | number | null
}

/** Parameters of a condition: the time of this process and the one `notice` later as timestamps, and `notice`. */
type Time = "now" | "until" | "notice"

/** The first rows that are due, as a subquery. */
export type Due = Sql<Time | "limit">

/** Rows that are marked one by one when their time has come, each with an audit entry. */
interface Expiry<Row extends ExpiringRow, I> {
  readonly table: string
  /** How long before its end a row is due, in milliseconds: 0 unless the end is announced. */
  readonly notice?: number
  /** The condition of rows whose time has come, and that are not marked. */
  readonly due: Sql<Time>
  /** The assignments that mark a row. */
  readonly mark: Sql<"now">
  readonly row: Schema.Schema<Row, I>
  readonly select: (due: Due) => Due
  readonly entry: (row: Row) => AuditEvent & { readonly place?: Pick<AuditSource, "project" | "env"> }
  /** The rest of the change, in the same transaction. */
  readonly andThen?: (row: Row, orgId: OrgId) => Effect.Effect<void, never, Transaction>
}

/** Finds and marks due rows. `expire` does one in the open transaction, if another change meets it. */
export const makeExpiry = <Row extends ExpiringRow, I>(expiry: Expiry<Row, I>) =>
  Effect.gen(function* () {
    const { andThen, due, entry, notice = 0, table } = expiry
    const audit = yield* AuditLog
    const { all, returning } = yield* query
    const rows = sql([table])
    const first = sql`(SELECT * FROM ${rows} WHERE ${due} ORDER BY expires_at, id LIMIT ${"limit"})`
    const dueRows = all(expiry.row)`${expiry.select(first)}`

    // A change may have set another end, or another server may have marked it.
    const mark = returning(IdRow)`
      UPDATE ${rows} SET ${expiry.mark} WHERE id = ${"id"} AND expires_at = ${"end"} AND ${due} RETURNING id`

    const time = Effect.map(Clock.currentTimeMillis, (millis) => ({
      now: timestamp(millis),
      until: timestamp(millis + notice),
      notice
    }))

    const expire = Effect.fnUntraced(function* (row: Row) {
      const { expires_at: end, id, org_id: orgId } = row
      const marked = yield* mark({ id, end, ...(yield* time) })
      if (marked.length === 0 || orgId === null) return
      if (andThen !== undefined) yield* andThen(row, orgId)
      const { place, ...event } = entry(row)
      yield* audit.change({ ...systemSource("expiry", orgId), ...place }, event)
    })

    const found = Effect.flatMap(time, (values) => dueRows({ ...values, limit: batchSize }))
    return { table, run: (fenced: Fenced) => eachRow(found, expire, fenced), expire } as const
  })
