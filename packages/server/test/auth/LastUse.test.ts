import { nextTick } from "@coffer/server/base/EventLoop"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { people } from "../model/Driver.js"
import { authenticate, everythingIn } from "../model/Support.js"
import { countingStatements } from "../support/FailingDriver.js"
import { freshPlace } from "../support/Services.js"

describe("the last use of a credential", () => {
  it.scopedLive("is recorded together with those of others, in few commits", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const persons = yield* people(100)
        yield* sql`UPDATE sessions SET last_used_at = '2020'`
        const used = Effect.map(sql`SELECT count(*) AS count FROM sessions WHERE last_used_at > '2021'`, ([row]) =>
          Number(row?.count)
        )
        const { count } = yield* countingStatements(
          /^COMMIT/,
          Effect.zipRight(
            Effect.forEach(persons, ({ credential }) => authenticate(credential), { concurrency: "unbounded" }),
            Effect.repeat(Effect.zipRight(nextTick, used), { until: (sessions) => sessions === persons.length })
          )
        )
        assert.isBelow(count, 5)
      }).pipe(Effect.provide(everythingIn(place)))
    })
  )
})
