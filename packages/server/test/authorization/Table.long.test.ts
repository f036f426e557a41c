import { assert, it } from "vitest"
import { endpoints } from "./Contract.js"
import { everybody, testTable } from "./Table.js"

it("the whole table has a row for each call, and a column for each actor with each rule", () => {
  assert.isAbove(endpoints.length * everybody.length, 2_500)
})

testTable(everybody)
