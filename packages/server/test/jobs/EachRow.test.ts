import { OrgId } from "@coffer/domain/base/Ids"
import { Database } from "@coffer/server/database/Database"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eachRow, batchSize } from "../../src/database/jobs/EachRow.js"
import { type Fenced, fencedByNothing } from "../../src/database/jobs/Lease.js"
import { DatabaseBusy } from "../../src/database/Unavailable.js"
import { onDatabase } from "../support/Services.js"

const [busy, calm] = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"].map((id) =>
  OrgId.make(id)
)

describe("a job that changes rows of many organizations", () => {
  it.effect("waits once for a busy organization, and does the rows of the others", () =>
    Effect.gen(function* () {
      const real = fencedByNothing(yield* Database)
      const waits: Array<string | undefined> = []
      const fenced: Fenced = (effect, scopes = []) => {
        const [scope] = scopes
        if (scope?.id !== busy) return real(effect, scopes)
        waits.push(scope?.id)
        return Effect.die(new DatabaseBusy())
      }
      const left = Array.from({ length: 2 * batchSize }, (_, number) => ({
        number,
        org_id: (number % 4 === 0 ? busy : calm) ?? null
      }))
      const others = left.filter(({ org_id }) => org_id === calm).map(({ number }) => number)
      const rows = Effect.sync(() => left.slice(0, batchSize))
      const done: Array<number> = []
      const step = (row: (typeof left)[number]) =>
        Effect.sync(() => {
          done.push(row.number)
          left.splice(left.indexOf(row), 1)
        })
      yield* eachRow(rows, step, fenced)
      assert.lengthOf(waits, 1)
      assert.deepStrictEqual(done, others)
    }).pipe(onDatabase())
  )

  it.effect("fails for what is no wait", () =>
    Effect.gen(function* () {
      const broken: Fenced = () => Effect.die("broken")
      const once = yield* Effect.exit(eachRow(Effect.succeed([{ org_id: calm ?? null }]), () => Effect.void, broken))
      assert.isTrue(once._tag === "Failure")
    })
  )
})
