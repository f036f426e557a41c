import { responseOf } from "@coffer/server/secrets/use/UpstreamResponse"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import { gzipSync } from "node:zlib"
import { runs } from "../../../domain/test/support/Runs.js"

const terms = { response: "text", max_kib: 64 } as const

/** The transformations that an upstream may apply to a text before it returns it, each with the parts around the text. */
const reflections: ReadonlyArray<(text: string, before: string, after: string) => string> = [
  (text, before, after) => `${before}${text}${after}`,
  (text, before, after) => JSON.stringify({ a: `${before}${text}${after}` }),
  (text, before, after) => encodeURIComponent(`${before}${text}${after}`),
  (text, before, after) => new URLSearchParams({ a: `${before}${text}${after}` }).toString(),
  (text, before, after) => Buffer.from(`${before}${text}${after}`).toString("base64"),
  (text, before, after) => Buffer.from(`${before}${text}${after}`).toString("base64url"),
  (text, before, after) => Buffer.from(`${before}${text}${after}`).toString("hex"),
  (text, before, after) =>
    Buffer.from(`${before}${text}${after}`)
      .toString("hex")
      .replace(/../g, (pair) => `%${pair}`),
  (text, before, after) => `${before}${text}${after}`.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
]

const unpercent = (text: string) =>
  Either.getOrElse(
    Either.try(() => decodeURIComponent(text.replace(/\+/g, " "))),
    () => ""
  )

const unjson = (text: string) =>
  Either.getOrElse(
    Either.try(() => JSON.stringify(JSON.parse(text))),
    () => ""
  )

/** Undoes what the reflections did, plainly: the whole text, or each of its words. */
const undone = (text: string): ReadonlyArray<string> => {
  const words = [text, ...(text.match(/[A-Za-z0-9+/_=-]+/g) ?? [])]
  const ofWords = words.flatMap((word) =>
    [0, 1, 2, 3].flatMap((skip) => [
      Buffer.from(word.slice(skip), "base64").toString(),
      Buffer.from(word.slice(skip), "hex").toString()
    ])
  )
  return [text, unpercent(text), unjson(text), ...ofWords]
}

const value = fc.oneof(
  fc.string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(...Array.from('abcXYZ019-_/+=%"\\&<ü€ ')) }),
  fc.string({ minLength: 8, maxLength: 40 })
)
const around = fc.string({ maxLength: 5 })
const index = fc.nat({ max: reflections.length - 1 })

describe("the scrub", () => {
  it("leaves no value in an answer, however it is reflected once or twice, or withholds the answer", async () => {
    let shown = 0
    let withheld = 0
    await fc.assert(
      fc.asyncProperty(value, index, index, around, around, async (secret, one, other, before, after) => {
        fc.pre(Buffer.byteLength(secret) >= 8 && secret.isWellFormed() && before.isWellFormed() && after.isWellFormed())
        const inner = reflections[one]!(secret, before, after)
        const text = reflections[other]!(inner, after, before)
        const answer = { status: 200, headers: { "x-request-id": "r" }, body: Buffer.from(text), truncated: false }
        const outcome = await Effect.runPromise(Effect.either(responseOf(answer, [secret], terms)))
        if (Either.isLeft(outcome)) {
          withheld += 1
          assert.strictEqual(outcome.left, "value")
          return
        }
        shown += 1
        const { body = "", body_base64 } = outcome.right
        assert.isUndefined(body_base64)
        for (const view of undone(body).flatMap(undone)) assert.notInclude(view, secret)
      }),
      { numRuns: runs(250) }
    )
    assert.isAbove(shown, runs(10))
    assert.isAbove(withheld, runs(5))
  })

  it("leaves answers as they are that hold no value", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
        fc.pre(text.isWellFormed())
        const answer = { status: 200, headers: {}, body: Buffer.from(text), truncated: false }
        const { body = "", scrubbed } = await Effect.runPromise(responseOf(answer, ["a value of its own"], terms))
        assert.strictEqual(body, text)
        assert.strictEqual(scrubbed, 0)
      }),
      { numRuns: runs(50) }
    )
  })

  it("finds a value at any place of a long answer, also across the parts that are decoded", async () => {
    const secret = "sk_live_Canary7"
    const hidden = Buffer.from(encodeURIComponent(secret).replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`))
    for (const before of [0, 65_000, 65_530, 65_536, 66_000, 130_000]) {
      const body = Buffer.concat([
        Buffer.alloc(before, "-"),
        Buffer.from(hidden.toString("base64")),
        Buffer.alloc(70_000, "-")
      ])
      const answer = { status: 200, headers: {}, body, truncated: false }
      const outcome = await Effect.runPromise(Effect.either(responseOf(answer, [secret], { ...terms, max_kib: 1_024 })))
      assert.deepStrictEqual(outcome, Either.left("value"), `at ${before}`)
    }
  })

  it("leaves no part of a value at the end of a body that came cut within its compressed bytes", async () => {
    const secret = "Canary7-of-27-characters-xy"
    const whole = gzipSync(Buffer.from(`${"filler ".repeat(400)}${secret}${" rest".repeat(400)}`), { level: 1 })
    for (let length = 40; length < whole.length; length++) {
      const answer = {
        status: 200,
        headers: { "content-encoding": "gzip" },
        body: whole.subarray(0, length),
        truncated: true
      }
      const outcome = await Effect.runPromise(Effect.either(responseOf(answer, [secret], terms)))
      if (Either.isLeft(outcome)) continue
      assert.notInclude(outcome.right.body ?? "", secret.slice(0, 8), `${length} bytes`)
    }
  })

  it("shows no tag of a body in which something was replaced", async () => {
    const secret = "Canary7-value"
    const headersOf = async (text: string) => {
      const answer = { status: 200, headers: { etag: '"tag"' }, body: Buffer.from(text), truncated: false }
      return (await Effect.runPromise(responseOf(answer, [secret], terms))).headers
    }
    assert.deepStrictEqual(await headersOf("nothing"), { etag: '"tag"' })
    assert.deepStrictEqual(await headersOf(`it is ${secret}`), {})
  })
})
