import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { findRegressions, maxTries, processorTimes, regressions } from "../../bench/support/regressions.mjs"

const recorded = { read: 4, write: 2 }

/** Measures these in turn. */
const measuring = (...tries: ReadonlyArray<Record<string, number>>) => {
  const state = { measured: 0 }
  const measure = (attempt: number) => {
    state.measured++
    return Promise.resolve(tries[attempt] ?? {})
  }
  return { measure, state }
}

describe("a quick benchmark", () => {
  it("finds a request that takes more than a quarter more processor time than recorded", () => {
    assert.deepStrictEqual(regressions(recorded, { read: 5.01, write: 2.5 }), [
      { row: "read", before: 4, processor: 5.01 }
    ])
  })

  it("takes no row for slower that was never recorded, or that became faster", () => {
    assert.deepStrictEqual(regressions(recorded, { read: 1, "a new row": 100 }), [])
  })

  it("compares only rows against the hand-written server", () => {
    assert.deepStrictEqual(processorTimes([{ row: "read", processor: 4 }, { row: "other" }]), { read: 4 })
  })

  it("measures once if nothing is slower", async () => {
    const { measure, state } = measuring({ read: 4.9, write: 1 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [])
    assert.strictEqual(state.measured, 1)
  })

  it("takes the best of three tries, each row by itself", async () => {
    const { measure, state } = measuring({ read: 6, write: 3 }, { read: 4, write: 3 }, { read: 7, write: 2 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [])
    assert.strictEqual(state.measured, maxTries)
  })

  it("fails for what is slower in all three tries", async () => {
    const { measure, state } = measuring({ read: 6 }, { read: 5.5 }, { read: 7 })
    assert.deepStrictEqual(await findRegressions(recorded, measure), [{ row: "read", before: 4, processor: 5.5 }])
    assert.strictEqual(state.measured, maxTries)
  })

  it("has a record of reads, writes and bundles", () => {
    const last: unknown = JSON.parse(readFileSync(new URL("../../bench/last.json", import.meta.url), "utf8"))
    assert.hasAllKeys(last, ["secret read, 16 connections", "secret write, 16 connections", "bundle of 100"])
  })
})
