import { UseTerms } from "@coffer/domain/secrets/UseRule"
import { streamBytes, strictest } from "@coffer/server/secrets/use/UpstreamResponse"
import { streamedResponse } from "@coffer/server/secrets/use/StreamedResponse"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema, Stream } from "effect"
import type { Json } from "../support/Program.js"

const canary = "sk_live_CanaryOfALongStream"
const mebibyte = 1024 * 1024

/** A stream of parts as large as those of a socket. The value lies across each boundary of two. */
const upstream = (bytes: number) => {
  const text = `${canary.slice(9)}${"x".repeat(64 * 1024 - canary.length)}${canary.slice(0, 9)}`
  let left = bytes
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    next: Effect.sync(() => {
      if (left <= 0) return null
      const part = Buffer.from(text.slice(0, left))
      left -= part.length
      return part
    })
  }
}

/** Reads a stream as a caller does, line by line. */
const received = (bytes: number, maxBytes: number) =>
  Effect.gen(function* () {
    let exit: Exit.Exit<unknown, unknown> = Exit.void
    const { body, last, most } = yield* streamedResponse({
      open: Effect.succeed(upstream(bytes)),
      enter: Effect.void,
      values: [canary],
      maxBytes,
      sentence: String,
      record: (found) => Effect.sync(() => (exit = found))
    }).pipe(
      Stream.runFold({ body: 0, last: {} as Json, most: 0 }, (sum, line) => {
        const record: Json = JSON.parse(Buffer.from(line).toString().trim().split("\n").at(-1) ?? "")
        for (const text of Buffer.from(line).toString().trim().split("\n")) {
          const { base64 = "" }: Json = JSON.parse(text)
          const part = Buffer.from(base64, "base64")
          assert.isFalse(part.includes(canary))
          sum.body += part.length
        }
        return { body: sum.body, last: record, most: Math.max(sum.most, line.length) }
      })
    )
    return { body, last, most, exit }
  })

const termsOf = (max_kib: number) =>
  Schema.decodeUnknownEither(UseTerms)({
    hosts: ["api.example.com"],
    methods: ["GET"],
    paths: ["/*"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"],
    per_minute: 30,
    per_day: 1_000,
    response: "stream",
    max_kib,
    approval: "none",
    expires_at: null
  })

describe("a long stream of a use", () => {
  it.live("has 10 MiB, part by part, without the value across any boundary", () =>
    Effect.gen(function* () {
      const { body, exit, last, most } = yield* received(10 * mebibyte, 10 * mebibyte)
      assert.deepStrictEqual(last, { end: { truncated: false, scrubbed: 159, bytes: 10 * mebibyte } })
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual(body, 10 * mebibyte - 159 * (canary.length - "[scrubbed]".length))
      // No more than a part is held, in base64 and with what was held back.
      assert.isBelow(most, 3 * 64 * 1024)
    })
  )

  it.live("is cut at what its rule lets through", () =>
    Effect.gen(function* () {
      const { last } = yield* received(3 * mebibyte, 2 * mebibyte)
      assert.deepStrictEqual(last.end.truncated, true)
      assert.strictEqual(last.end.bytes, 2 * mebibyte)
    })
  )

  it("may have ten times as much as a response that comes whole", () => {
    const [one, other] = [termsOf(10_240), termsOf(2_048)]
    assert(one._tag === "Right" && other._tag === "Right")
    assert.strictEqual(streamBytes([one.right]), 10 * mebibyte)
    assert.strictEqual(streamBytes([one.right, other.right]), 2 * mebibyte)
    assert.strictEqual(strictest([one.right, other.right]).max_kib, 1_024)
    assert.strictEqual(termsOf(10_241)._tag, "Left")
  })
})
