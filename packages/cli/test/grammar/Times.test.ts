import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, TestClock } from "effect"
import { momentText } from "../../src/base/Moments.js"
import { pastMoment, duration, durationOrMoment, lasting, oldEnd, utcMoment } from "../../src/grammar/Times.js"

const given = (options: Readonly<Record<string, string>>) =>
  new Map(Object.entries(options).map(([name, text]) => [name, [text]]))

describe("a moment", () => {
  it.each([
    ["2027-01-31", "2027-01-31"],
    ["2027-01-31T08:00Z", "2027-01-31T08:00Z"],
    ["2027-01-31T08:00:00Z", "2027-01-31T08:00:00Z"],
    ["2027-01-31T08:00+01:00", "2027-01-31T07:00:00.000Z"],
    ["2027-01-31 00:30:00+0530", "2027-01-30T19:00:00.000Z"],
    // As this client shows moments.
    [momentText("2027-01-31T08:00:59.999Z"), "2027-01-31T08:00Z"],
    ["2027-01-31 08:00 CET", undefined],
    ["2027-02-30", undefined],
    ["2027-01-31T08:00", undefined],
    ["tomorrow", undefined]
  ])("%s is %s", (text, utc) => assert.strictEqual(utcMoment(text), utc))
})

describe("how long something lasts", () => {
  const end = lasting("it lasts", oldEnd("expires"))
  const read = (options: Readonly<Record<string, string>>) => end.decode(options["for"]?.split(" "), given(options))

  it("is said by --for, by --until, or as in earlier releases, and once", () => {
    assert.deepStrictEqual(read({ for: "4h" }), Either.right("4h"))
    assert.deepStrictEqual(read({ until: "2027-01-31" }), Either.right("2027-01-31"))
    assert.deepStrictEqual(read({ expires: "7d" }), Either.right("7d"))
    assert.deepStrictEqual(read({}), Either.right(undefined))
    assert.isTrue(Either.isLeft(read({ for: "4h", until: "2027-01-31" })))
    assert.isTrue(Either.isLeft(read({ for: "2027-01-31" })))
    assert.isTrue(Either.isLeft(read({ until: "4h" })))
  })

  it("is a duration of 30 s, 15 m, 8 h, 30 d or 12 w", () => {
    for (const text of ["30s", "15m", "8h", "30d", "12w"])
      assert.deepStrictEqual(duration.decode("--for", text), Either.right(text))
    for (const text of ["0s", "8", "h", "", "8 h", "99999999d"])
      assert.isTrue(Either.isLeft(duration.decode("--for", text)))
    assert.isTrue(Either.isLeft(durationOrMoment.decode("--expires", "soon")))
  })
})

describe("a moment of a range", () => {
  it.effect("is a moment, how long ago, or a day", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-03-01T12:00:00Z"))
      assert.strictEqual(yield* pastMoment("yesterday"), "2026-02-28")
      assert.strictEqual(yield* pastMoment("today"), "2026-03-01")
      assert.strictEqual(yield* pastMoment("24h"), "2026-02-28T12:00:00.000Z")
      assert.strictEqual(yield* pastMoment("2026-01-31"), "2026-01-31")
      assert.strictEqual(yield* pastMoment(undefined), undefined)
    })
  )
})
