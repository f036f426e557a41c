import { DueWithin } from "@coffer/domain/secrets/Due"
import { RequestSpan, StoredSpan } from "@coffer/domain/access/Protection"
import { isSpan, spanMillis, spanOrSecondsMillis, spanSeconds } from "@coffer/domain/base/Span"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"

describe("a span of time", () => {
  it.each([
    ["500ms", 500],
    ["60s", 60_000],
    ["90m", 5_400_000],
    ["1.5h", 5_400_000],
    ["72h", 259_200_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
    ["0s", 0]
  ])("is a number and a unit: %s", (text, millis) => {
    assert.strictEqual(spanMillis(text), millis)
    assert.strictEqual(spanSeconds(text), Math.ceil(millis / 1_000))
  })

  it.each(["", "s", "60", "60 s", "-1h", "1h30m", "1x", "1.h", "1e3s", "1H", "1h\n"])("is not %j", (text) => {
    assert.isFalse(isSpan(text))
  })

  it("is seconds without a unit where options take seconds", () => {
    assert.strictEqual(spanOrSecondsMillis("900"), 900_000)
    assert.strictEqual(spanOrSecondsMillis("15m"), 900_000)
    assert.isNaN(spanOrSecondsMillis("15 m"))
  })

  it.each(["60s", "1m", "90m", "72h", "30d", "4w", "1.5h"])("is taken for requests that wait: %s", (text) => {
    assert.isTrue(Schema.is(RequestSpan)(text))
  })

  it.each(["59s", "31d", "5w", "72", "0h"])("is refused for requests that wait: %s", (text) => {
    assert.isFalse(Schema.is(RequestSpan)(text))
  })

  it.each([
    ["60s", "1m"],
    ["90s", "2m"],
    ["90m", "90m"],
    ["72h", "72h"],
    ["1.5h", "90m"],
    ["0.5d", "12h"],
    ["4w", "28d"],
    ["604800000ms", "7d"]
  ])("is stored in the form that servers of 0.3.0 read: %s as %s", (text, stored) => {
    assert.strictEqual(Schema.decodeUnknownSync(StoredSpan)(text), stored)
    assert.match(stored, /^([1-9][0-9]{0,5})([mhd])$/)
    assert.isTrue(Schema.is(RequestSpan)(stored))
  })

  it.each([
    ["60m", true],
    ["14d", true],
    ["2w", true],
    ["366d", true],
    ["59m", false],
    ["367d", false]
  ])("has its limits for due secrets: %s", (text, taken) => {
    assert.strictEqual(Schema.is(DueWithin)(text), taken)
  })
})
