import { LimitExceeded } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Database } from "../database/Database.js"
import { query, sql } from "../database/Query.js"
import { timestamp } from "../base/Time.js"
import { nextTick } from "../base/EventLoop.js"
import type { Fenced } from "../database/jobs/Lease.js"
import { Keyring } from "./Keyring.js"

/** How many encryptions with random nonces one key allows (NIST SP 800-38D, section 8.3). */
export const maxWraps = 2 ** 32
const warnAt = 0.8 * maxWraps
const stride = 5_000

const PlaceRow = Schema.Struct({ secret_id: Schema.String, version: Schema.Number })
const CountRow = Schema.Struct({ versions: Schema.Number })

const behind = sql`kek_id = ${"kekId"} AND (secret_id, version) > (${"secretId"}, ${"version"})`

/** Limits how many data keys the key-encryption key wraps: writes beyond the limit fail. */
export class WrapBudget extends Effect.Service<WrapBudget>()("@coffer/server/WrapBudget", {
  effect: Effect.gen(function* () {
    const { clock } = yield* Database
    const { first, one, write } = yield* query
    const { kekId } = yield* Keyring
    let counted = 0

    /** The last version of the next `stride` versions; none if fewer remain. */
    const endOfStretch = first(PlaceRow)`
      SELECT secret_id, version FROM secret_versions WHERE ${behind} ORDER BY secret_id, version
      LIMIT 1 OFFSET ${"offset"}`

    const countBehind = one(CountRow)`SELECT count(*) AS versions FROM secret_versions WHERE ${behind}`

    const storedCount = first(CountRow)`SELECT versions FROM wrap_counts WHERE kek_id = ${"kekId"}`

    const store = write`
      INSERT INTO wrap_counts (kek_id, versions, counted_at) VALUES (${"kekId"}, ${"versions"}, ${"now"})
      ON CONFLICT (kek_id) DO UPDATE SET versions = excluded.versions, counted_at = excluded.counted_at`

    /** Counts the versions under the current key, `stride` at a time, and yields to the event loop in between. */
    const countAll = Effect.gen(function* () {
      let total = 0
      let last = { secret_id: "", version: 0 }
      for (;;) {
        const from = { kekId, secretId: last.secret_id, version: last.version }
        const place = yield* endOfStretch({ ...from, offset: stride - 1 })
        if (place === undefined) {
          total += (yield* countBehind(from)).versions
          break
        }
        total += stride
        last = place
        yield* nextTick
      }
      return total
    })

    /** Counts the versions, and stores their number for all servers of the database. */
    const count = Effect.fnUntraced(function* (fenced: Fenced) {
      const versions = yield* countAll
      yield* fenced(Effect.flatMap(clock, (now) => store({ kekId, versions, now: timestamp(now) })))
      counted = versions
      if (versions >= warnAt) {
        yield* Effect.logWarning(
          `the key-encryption key has wrapped ${versions} data keys of at most ${maxWraps}: rotate the master key soon`
        )
      }
      return versions
    })

    /** Takes over the number that this or another server has counted. */
    const load = Effect.map(storedCount({ kekId }), (row) => {
      if (row !== undefined) counted = row.versions
    })

    /** Returns a left with LimitExceeded if the last count has reached the limit. */
    const check = (): Either.Either<void, LimitExceeded> =>
      counted < maxWraps
        ? Either.void
        : Either.left(
            new LimitExceeded({
              message:
                "the key-encryption key has reached its limit of wrapped data keys: ask the operator to rotate the master key"
            })
          )

    return { count, load, check } as const
  })
}) {}

/** Follows the count of other processes, in one without maintenance. */
export const WrapCountLive = Layer.scopedDiscard(
  Effect.flatMap(WrapBudget, ({ load }) =>
    load.pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("the count of wrapped data keys could not be read", cause)),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  )
)
