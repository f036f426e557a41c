import * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { StartupError } from "../../base/StartupError.js"
import type { Succession } from "../Superseded.js"
import { connectWith, type Reached, Refused, refusedBy } from "./Reach.js"

/** The number that the database had when this process opened it. */
export type FenceNumber = number & Brand.Brand<"FenceNumber">
const FenceNumber = Brand.nominal<FenceNumber>()

/** How a database goes on without its servers: what happened, and what to do with a server that missed it. */
const successions = {
  rotated: ["the master key was rotated while it was paused or cut off", "start it again with the new master key"],
  copied: [
    "the database was copied to another one while it was paused or cut off",
    "start it on the copy, and on this database only if the copy is not to be used"
  ],
  filled: [
    "a restore or a copy was written into the database while it was paused or cut off",
    "start it again with the master key of that data"
  ],
  migrated: ["a newer release has migrated the database, which this one cannot read", "start the newer coffer-server"]
} as const

export type Why = keyof typeof successions

const isWhy = (text: string): text is Why => Object.hasOwn(successions, text)

/** Locks out every transaction of a server until the transaction ends, and waits for those that are open. */
export const lockFence = "LOCK TABLE database_fence IN EXCLUSIVE MODE"

/** Held by each transaction of a server from its beginning. */
const shareFence = "LOCK TABLE database_fence IN ROW SHARE MODE"

/** Gives the database another number. Every server that opened it before writes nothing any more. Call under the lock. */
export const moveFence = (why: Why, now: string): string =>
  `UPDATE database_fence SET number = floor(random() * 9007199254740991), why = '${why}', moved_at = '${now}'`

/** Fails with `movedCode` on another number than this process knows. */
const check = (number: FenceNumber): string => `SELECT 1 / count(*) FROM database_fence WHERE number = ${number}`

/** A condition of a read that fails it on another number. It is evaluated once, before any row. */
export const fenceCondition = (number: FenceNumber): string => `(${check(number)}) = 1`

/** The statements after BEGIN with which a transaction holds the number until its end. */
export const holdFence = (number: FenceNumber): string => `${shareFence}; ${check(number)}`

/** The statement after BEGIN of a transaction that only reads. */
export const checkFence = check

interface FenceRow {
  readonly number: number
  readonly why: string
  readonly moved_at: string
}

/** How long a start waits for an offline command that holds the database. */
const patience = "60s"

/** Reads the row, after a takeover that is under way. */
const read = (at: Reached) =>
  Effect.scoped(
    Effect.flatMap(connectWith(at.config), (client) =>
      Effect.tryPromise({
        try: async () => {
          await client.query(`BEGIN; SET LOCAL lock_timeout = '${patience}'; ${shareFence}`)
          const { rows } = await client.query<FenceRow>("SELECT number, why, moved_at FROM database_fence")
          await client.query("COMMIT")
          return rows
        },
        catch: refusedBy
      })
    )
  ).pipe(
    Effect.flatMap(([row]) =>
      row === undefined ? new Refused({ reason: "its table database_fence is empty", code: "" }) : Effect.succeed(row)
    )
  )

const isHeld = ({ code }: Refused): boolean => code === "55P03"

/** Reads the number of a database, before anything else is read of it. Waits for a takeover that is under way. */
export const openFence = (at: Reached): Effect.Effect<FenceNumber, StartupError> =>
  Effect.mapBoth(read(at), {
    onFailure: (error) =>
      new StartupError({
        message: isHeld(error)
          ? `an offline command (a rotation, a copy or a restore) has had the database ${at.name} for ${patience}: wait until it has ended, then start again`
          : `the database ${at.name} cannot be read: ${error.reason}`
      }),
    onSuccess: ({ number }) => FenceNumber(number)
  })

/** Says what happened to a database that has another number; null if it has the same. Asks until the database answers. */
export const successionOf = (at: Reached, known: FenceNumber): Effect.Effect<Succession | null> =>
  Effect.map(
    Effect.retry(read(at), Schedule.spaced("1 second")).pipe(Effect.orDie),
    ({ moved_at, number, why }): Succession | null => {
      if (number === known) return null
      const [what, next] = isWhy(why) ? successions[why] : ["the database was replaced", "start it again"]
      const since = moved_at === "" ? "" : ` (${moved_at})`
      return {
        message: `this server ends and has written nothing more, because ${what}${since}: ${next}`,
        // The database that was copied would get the writes that belong to its copy.
        mayRestart: why !== "copied"
      }
    }
  )
