import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nextTick } from "../../base/EventLoop.js"
import { ago } from "../../base/Time.js"
import { databaseTime, query, type Sql, sql } from "../Query.js"
import { unlessLocked } from "../UnlessLocked.js"
import type { Fenced } from "./Lease.js"

/** How many rows one transaction deletes. */
const batchSize = 200

export const hourMillis = 60 * 60 * 1000

/** A kind of thing that ends. Its feature declares it, and maintenance runs it. */
export interface Ending {
  readonly table: string
  readonly run: (fenced: Fenced) => Effect.Effect<void>
}

/** Rows that nobody reads after their end. */
interface Purge {
  readonly table: string
  /** The columns of the primary key. */
  readonly key?: string
  /** How long rows last after `created_at`, in milliseconds. Without it, they last until `expires_at`. */
  readonly lifetime?: number
  /** Another condition of ended rows, with `lifetime`, and `until`, the timestamp of that long ago. */
  readonly ended?: Sql<"until" | "lifetime">
}

const isOld = sql`created_at <= ${"until"}`
const isPast = sql`expires_at <= ${databaseTime}`

/** Deletes rows that have ended, some at a time, so that other changes are not delayed. Leaves those that another transaction has. */
export const makePurge = ({ ended, key = "id", lifetime, table }: Purge) =>
  Effect.gen(function* () {
    const { returning } = yield* query
    const unlocked = yield* unlessLocked
    const [rows, columns] = [sql([table]), sql([key])]
    const condition = ended ?? (lifetime === undefined ? isPast : isOld)
    const batch = returning(Schema.Struct({}))`
      DELETE FROM ${rows} WHERE (${columns}) IN (
        SELECT ${columns} FROM ${rows} WHERE ${condition} LIMIT ${"limit"} ${unlocked})
      RETURNING ${columns}`
    const purge: Ending = {
      table,
      run: (fenced) =>
        Effect.flatMap(ago(lifetime ?? 0), (until) =>
          fenced(batch({ until, lifetime: lifetime ?? 0, limit: batchSize })).pipe(
            Effect.zipLeft(nextTick),
            Effect.repeat({ while: ({ length }) => length === batchSize }),
            Effect.asVoid
          )
        )
    }
    return purge
  })
