import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../Query.js"

const TokenRow = Schema.Struct({ token: Schema.Number })
const UntilRow = Schema.Struct({ until: Schema.NullOr(Schema.String) })

/** The leases of jobs. `until` is null once the job of a bucket is done. */
export const jobsRepo = Effect.map(
  query,
  ({ first, returning, write }) =>
    ({
      lease: first(UntilRow)`SELECT until FROM jobs WHERE name = ${"name"} AND bucket = ${"bucket"}`,

      /** Takes a bucket that nobody has, or whose lease has passed. Returns its token, or no row. */
      claim: returning(TokenRow)`
        INSERT INTO jobs (name, bucket, holder, until, token)
        VALUES (${"name"}, ${"bucket"}, ${"holder"}, ${"until"}, 1)
        ON CONFLICT (name, bucket) DO UPDATE
          SET holder = excluded.holder, until = excluded.until, token = jobs.token + 1
          WHERE jobs.until <= ${"now"}
        RETURNING token`,

      /** Changes the end of a lease. Returns no row if another server has the bucket. */
      setUntil: returning(TokenRow)`
        UPDATE jobs SET until = ${"until"}
        WHERE name = ${"name"} AND bucket = ${"bucket"} AND token = ${"token"}
        RETURNING token`,

      /** Locks a lease until the transaction ends. Returns no row if another server has the bucket. */
      lock: returning(TokenRow)`
        UPDATE jobs SET token = token
        WHERE name = ${"name"} AND bucket = ${"bucket"} AND token = ${"token"}
        RETURNING token`,

      removeBefore: write`DELETE FROM jobs WHERE name = ${"name"} AND bucket < ${"bucket"}`
    }) as const
)
