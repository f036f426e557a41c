import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { type Costs, costs, findRegressions, maxTries, merge, regressions } from "../../bench/support/regressions.mjs"

const recorded = { processor: { read: 4, write: 2 }, steps: { read: 100 } }

/** Measures these processor times in turn. */
const measuring = (...tries: ReadonlyArray<Record<string, number>>) => {
  const state = { measured: 0 }
  const measure = (attempt: number): Promise<Costs> => {
    state.measured++
    return Promise.resolve({ processor: tries[attempt] ?? {} })
  }
  return { measure, state }
}

describe("a quick benchmark", () => {
  it("finds a request that takes more than twice the processor time recorded", () => {
    assert.deepStrictEqual(regressions(recorded, { processor: { read: 8.01, write: 4 } }), [
      { row: "read", kind: "processor", before: 4, cost: 8.01 }
    ])
  })

  it("finds a request that takes 4 of 100 fiber steps more than recorded", () => {
    assert.deepStrictEqual(regressions(recorded, { steps: { read: 103 } }), [])
    assert.deepStrictEqual(regressions(recorded, { steps: { read: 104 } }), [
      { row: "read", kind: "steps", before: 100, cost: 104 }
    ])
  })

  it("finds one more statement, commits, bytes of the log and memory alike", () => {
    const last = {
      statements: { read: 2 },
      commits: { read: 0.07 },
      walBytes: { read: 8_000 },
      allocated: { read: 150 }
    }
    assert.deepStrictEqual(regressions(last, last), [])
    const more = {
      statements: { read: 3 },
      commits: { read: 0.09 },
      walBytes: { read: 9_300 },
      allocated: { read: 160 }
    }
    assert.deepStrictEqual(
      regressions(last, more).map(({ kind }) => kind),
      ["statements", "allocated", "commits", "walBytes"]
    )
  })

  it("takes no row for dearer that was never recorded, or that became cheaper", () => {
    assert.deepStrictEqual(regressions(recorded, { processor: { read: 1, "a new row": 100 }, steps: { read: 1 } }), [])
  })

  it("records processor times by row, and what was counted by the request that it belongs to", () => {
    const counted = { steps: 172, statements: 2, commits: 0.07, walBytes: 8_000, allocated: 150 }
    const results = [
      { row: "secret read", kind: "read", processor: 4 },
      { row: "fiber steps: read", kind: "read", counted },
      { row: "resident memory" }
    ]
    assert.deepStrictEqual(costs(results), {
      steps: { read: 172 },
      statements: { read: 2 },
      commits: { read: 0.07 },
      walBytes: { read: 8_000 },
      allocated: { read: 150 },
      processor: { "secret read": 4 }
    })
  })

  it("measures once if nothing is dearer", async () => {
    const { measure, state } = measuring({ read: 7.9, write: 1 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [])
    assert.strictEqual(state.measured, 1)
  })

  it("takes the best of three tries, each row by itself", async () => {
    const { measure, state } = measuring({ read: 9, write: 5 }, { read: 8, write: 5 }, { read: 10, write: 4 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [])
    assert.strictEqual(state.measured, maxTries)
  })

  it("fails for what is dearer in all three tries", async () => {
    const { measure, state } = measuring({ read: 10 }, { read: 9 }, { read: 11 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [
      { row: "read", kind: "processor", before: 4, cost: 9 }
    ])
    assert.strictEqual(state.measured, maxTries)
  })

  it("records what was measured beside what was recorded before", () => {
    const { processor, steps } = merge(recorded, { processor: { write: 3 }, steps: { bundle: 218 } })
    assert.deepStrictEqual(
      { processor, steps },
      { processor: { read: 4, write: 3 }, steps: { read: 100, bundle: 218 } }
    )
  })

  it("has a record of reads, writes and bundles", () => {
    const last: unknown = JSON.parse(readFileSync(new URL("../../bench/last.json", import.meta.url), "utf8"))
    const { processor, ...counted } = last as Costs
    assert.hasAllKeys(processor, ["secret read", "secret write", "bundle of 100"])
    assert.hasAllKeys(counted, ["allocated", "commits", "statements", "steps", "walBytes"])
    for (const [kind, rows] of Object.entries(counted)) {
      assert.containsAllKeys(rows, ["empty", "read", "bundle", "write"], kind)
    }
  })
})
