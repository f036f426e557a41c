import { assert, it } from "@effect/vitest"
import { Redacted } from "effect"
import { changedKeys } from "../../src/run/ChangedKeys.js"

const secrets = (values: Record<string, string>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: Redacted.make(value) }))

it("names the keys that were added, changed and removed, and no value", () => {
  const before = secrets({ SAME: "1", OLD: "2", NEWER: "3" })
  assert.strictEqual(changedKeys(before, secrets({ NEWER: "4", SAME: "1", OLD: "2" })), "changed NEWER")
  assert.strictEqual(changedKeys(before, secrets({ A: "", SAME: "2" })), "added A; changed SAME; removed OLD, NEWER")
  assert.strictEqual(changedKeys(before, before), "")
  const many = secrets(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`K${index}`, "v"])))
  assert.match(changedKeys([], many), /^added K0, .*, K9 and 2 more$/)
})
