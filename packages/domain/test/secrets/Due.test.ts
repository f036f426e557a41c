import { Expiry } from "@coffer/domain/secrets/Due"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("when a secret expires", () => {
  it.each([
    ["2028-02-29", true],
    ["2027-01-31T08:00Z", true],
    ["2027-01-31T23:59:59.999Z", true],
    ["2027-02-29", false],
    ["2027-02-30T08:00:00Z", false],
    ["2027-04-31", false],
    ["2027-01-31T24:00:00Z", false],
    ["2027-13-01", false],
    ["2027-01-31T08:00:00+02:00", false]
  ])("%s: %s", (text, expected) => {
    assert.strictEqual(Schema.is(Expiry)(text), expected)
  })
})
