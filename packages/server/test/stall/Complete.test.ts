import { assert, describe, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"
import { filesWithJobs, sources } from "./Jobs.js"
import { rows } from "./Rows.js"
import { manyRows } from "./Transactions.js"

describe("what is measured for stalls", () => {
  it("has a row for each call of the contract, and no other", () => {
    assert.deepStrictEqual(Object.keys(rows).sort(), endpoints.map(({ call }) => call).sort())
  })

  it("has a bound of rows for calls of the contract alone", () => {
    assert.deepStrictEqual(
      Object.keys(manyRows).filter((call) => !(call in rows)),
      []
    )
  })

  it("has a place for each file that starts work of its own", () => {
    assert.deepStrictEqual(Object.keys(sources).sort(), filesWithJobs())
  })
})
