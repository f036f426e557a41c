import { assert, describe, it } from "@effect/vitest"
import { type Clock, Effect } from "effect"
import { everythingOnPostgres } from "../model/Support.js"
import { freshPath } from "../support/Services.js"
import { freshDatabase } from "../support/postgres/Databases.js"
import { entriesOf, newOrganization, read, write } from "../trail/Support.js"
import { AuditLog } from "@coffer/server/audit/AuditLog"

const hour = 3_600_000

/** Runs an effect on a server whose clock is wrong. */
const ahead =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock) => {
      const wrong: Clock.Clock = Object.create(clock, {
        unsafeCurrentTimeMillis: { value: () => clock.unsafeCurrentTimeMillis() + millis },
        currentTimeMillis: { value: Effect.map(clock.currentTimeMillis, (time) => time + millis) }
      })
      return Effect.withClock(effect, wrong)
    })

describe("the times of audit entries", () => {
  it.scopedLive("are the database's, and never go back in a log, whatever the clocks of two servers say", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const fast = Effect.provide(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const slow = Effect.provide(everythingOnPostgres(url, yield* freshPath, { clock: "shared" }))
      const start = Date.now()
      const { id } = yield* newOrganization("acme").pipe(fast, ahead(hour))
      for (let round = 0; round < 2; round++) {
        yield* Effect.zipRight(write(id), read(id)).pipe(
          Effect.zipRight(Effect.flatMap(AuditLog, (log) => log.flush)),
          slow,
          ahead(-hour)
        )
        yield* write(id).pipe(fast, ahead(hour))
      }
      const times = (yield* slow(entriesOf(id))).map(({ created_at }) => created_at)
      assert.lengthOf(times, 7)
      assert.deepStrictEqual(times, times.toSorted())
      for (const time of times) {
        assert.isAtLeast(Date.parse(time), start - 1)
        assert.isAtMost(Date.parse(time), Date.now())
      }
    })
  )
})
