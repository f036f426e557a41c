import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer, Logger, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import { Coffer } from "../src/Coffer.js"
import { Background } from "../src/Background.js"
import { json, listen } from "./internal/Support.js"

type Answer = (response: ServerResponse) => void

const value =
  (text: string): Answer =>
  (response) => {
    response.setHeader("etag", `"${text}"`)
    const secret = { key: "A", value: text, version: 1, updated_at: "2026-01-31T12:00:00.000Z" }
    json(response, 200, { revision: 1, data: [secret] })
  }
const unchanged: Answer = (response) => void response.writeHead(304).end()
const failing =
  (retryAfter?: string): Answer =>
  (response) => {
    if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter)
    json(response, 503, { error: { code: "DATABASE_UNAVAILABLE", message: "the database is away" } })
  }

const repeated = (times: number, answer: Answer) => Array.from({ length: times }, () => answer)

/** The seconds that an application waits before each poll, if a server gives these answers after the first. */
const waitsOf = (every: Duration.DurationInput, ...answers: ReadonlyArray<Answer>) =>
  Effect.gen(function* () {
    const left = [value("1"), ...answers]
    const { url } = yield* listen((_, response) => left.shift()?.(response))
    const waits: Array<number> = []
    const ended = yield* Deferred.make<void>()
    const sleep = (duration: Duration.Duration) =>
      Effect.suspend(() => {
        // The deadline of a request.
        if (Duration.toMillis(duration) === 30_000) return Effect.never
        waits.push(Duration.toSeconds(duration))
        return left.length > 0 ? Effect.void : Effect.zipRight(Deferred.succeed(ended, undefined), Effect.never)
      })
    const credential = { apiKey: Redacted.make("svc_sa_1") }
    yield* Layer.build(Coffer.layer({ server: url, place: "acme/webshop/dev", credential, every })).pipe(
      Effect.provideService(Background, Effect.withClock(Object.assign(Clock.make(), { sleep }))),
      Effect.provide(Logger.remove(Logger.defaultLogger))
    )
    yield* Deferred.await(ended)
    return waits
  }).pipe(Effect.scoped)

/** Each wait is a second's multiple of these, give or take a fifth. */
const assertNear = (waits: ReadonlyArray<number>, expected: ReadonlyArray<number>) => {
  assert.strictEqual(waits.length, expected.length, String(waits))
  for (const [index, seconds] of expected.entries()) assert.closeTo(waits[index] ?? 0, seconds, seconds / 5)
}

describe("the polls of an environment", () => {
  it.live("come every 30 seconds, each a little sooner or later", () =>
    Effect.gen(function* () {
      const waits = yield* waitsOf("30 seconds", ...repeated(9, unchanged))
      assertNear(
        waits,
        repeated(10, unchanged).map(() => 30)
      )
      assert.isAtLeast(new Set(waits).size, 9)
    })
  )

  it.live("become rarer after failures, until one succeeds", () =>
    Effect.gen(function* () {
      const waits = yield* waitsOf("10 seconds", ...repeated(5, failing()), unchanged)
      assertNear(waits, [10, 20, 40, 60, 60, 60, 10])
      assertNear(yield* waitsOf("5 minutes", ...repeated(2, failing())), [300, 300, 300])
      // No timer waits for 100 days: it would end at once.
      assert.deepStrictEqual(yield* waitsOf("100 days"), [2_147_483.647])
    })
  )

  it.live("come no sooner than the server asks for", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        const [first = 0, second = 0, third = 0] = yield* waitsOf("1 second", failing("90"), failing())
        assert.isAtMost(first, 1.2)
        assert.isAtLeast(second, 90)
        assert.isBelow(second, 140)
        assert.closeTo(third, 60, 12)
      }
      // A response that asks for days must not hide changes for as long. Neither does one without a number.
      const [, long = 0] = yield* waitsOf("1 second", failing("999999"))
      assert.isAtLeast(long, 3600)
      assert.isAtMost(long, 5400)
      for (const odd of ["Fri, 31 Dec 2049 23:59:59 GMT", "-5", "1e9", "99999999999"]) {
        const [, next = 0] = yield* waitsOf("1 second", failing(odd))
        assert.isAtMost(next, 2.4, odd)
      }
    })
  )

  it.live("wait until a change has settled", () =>
    Effect.gen(function* () {
      const waits = yield* waitsOf("1 minute", value("2"), value("3"), unchanged)
      assertNear([waits[0] ?? 0, waits[3] ?? 0], [60, 60])
      assert.deepStrictEqual(waits.slice(1, 3), [1, 1])
    })
  )
})
