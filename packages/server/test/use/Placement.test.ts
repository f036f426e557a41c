import { type Outgoing, placed, signaturesIn, signed } from "@coffer/server/secrets/use/Placement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import { createHmac } from "node:crypto"
import { runs } from "../../../domain/test/support/Runs.js"

/** A canary within whatever a value may hold: a message that has the canary has the value. */
const value = fc
  .tuple(fc.string({ unit: "grapheme", maxLength: 20 }), fc.string({ maxLength: 20 }))
  .map(([before, after]) => `${before}Canary7${after}`)
  .filter((text) => text.isWellFormed())
const visible = fc.string({ unit: fc.constantFrom(...Array.from("abcXYZ019-_/+=%&?. ~!")), maxLength: 20 })
const format = fc.tuple(visible, visible).map(([before, after]) => `${before}{}${after}`)
const parameter = fc.string({ unit: fc.constantFrom(...Array.from("abcXYZ019_-")), minLength: 1, maxLength: 8 })
const query = fc.array(fc.tuple(parameter, visible), { maxLength: 4 })

const outgoing = fc.record({
  method: fc.constantFrom("GET", "POST"),
  url: query.map(
    (pairs) => `https://api.test/v1/x${pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`}`
  ),
  headers: fc.constantFrom({}, { accept: "text/plain" }, { "x-key": "of the caller" }),
  body: fc.option(fc.uint8Array({ maxLength: 50 }))
})

/** Checks whether a header can carry a text: visible ASCII characters, with blanks between them. */
const isCarried = (text: string): boolean => text === text.trim() && text !== "" && /^[ -~]*$/.test(text)

const unchangedBut = (one: Outgoing, other: Outgoing, name: string): void => {
  const { [name]: _one, ...before } = one.headers
  const { [name]: _other, ...after } = other.headers
  assert.deepStrictEqual({ ...other, headers: after }, { ...one, headers: before })
}

describe("a placed value", () => {
  it("is in the header as the format says, or refused without the value in the message", () => {
    fc.assert(
      fc.property(outgoing, format, value, (before, form, secret) => {
        const [start = "", end = ""] = form.split("{}")
        const text = `${start}${secret}${end}`
        const found = placed(before, { in: "header", name: "x-key", format: form }, secret)
        const isFree = !Object.hasOwn(before.headers, "x-key")
        assert.strictEqual(Either.isRight(found), isFree && isCarried(text))
        if (Either.isLeft(found)) return assert.notInclude(found.left, "Canary7")
        assert.strictEqual(found.right.headers["x-key"], text)
        unchangedBut(before, found.right, "x-key")
      })
    )
  })

  it("is in the query, once, after what the caller sent", () => {
    fc.assert(
      fc.property(outgoing, parameter, value, (before, name, secret) => {
        const given = [...new URL(before.url).searchParams]
        const found = placed(before, { in: "query", name }, secret)
        const isGiven = given.some(([key]) => key.toLowerCase() === name.toLowerCase())
        assert.strictEqual(Either.isLeft(found), isGiven)
        if (Either.isLeft(found)) return assert.notInclude(found.left, "Canary7")
        const url = new URL(found.right.url)
        assert.deepStrictEqual([...url.searchParams], [...given, [name, secret]])
        assert.strictEqual(`${url.origin}${url.pathname}`, "https://api.test/v1/x")
        assert.deepStrictEqual({ ...found.right, url: before.url }, before)
      })
    )
  })

  it("is the password of Basic, or the key of an HMAC of the body", () => {
    fc.assert(
      fc.property(outgoing, visible, value, (before, user, secret) => {
        const basic = Either.getOrThrow(placed(before, { in: "basic", user }, secret))
        const [scheme, credentials = ""] = basic.headers["authorization"]?.split(" ") ?? []
        assert.strictEqual(scheme, "Basic")
        assert.strictEqual(Buffer.from(credentials, "base64").toString(), `${user}:${secret}`)

        const place = { in: "hmac-sha256", header: "x-signature", format: "sha256={}" } as const
        const hmac = Either.getOrThrow(placed(before, place, secret))
        const digest = createHmac("sha256", secret)
          .update(before.body ?? "")
          .digest("hex")
        assert.strictEqual(hmac.headers["x-signature"], `sha256=${digest}`)
        assert.deepStrictEqual(signaturesIn(hmac, place), [digest])
        assert.deepStrictEqual(signaturesIn(basic, { in: "basic", user }), [])
      })
    )
  })

  it("signs for AWS without a change but to headers, and without the value in the request", async () => {
    const place = { in: "aws-sigv4", service: "s3", region: "eu-central-1", access_key_id: "AKIDEXAMPLE" } as const
    await fc.assert(
      fc.asyncProperty(outgoing, value, async (before, secret) => {
        const after = await Effect.runPromise(signed(before, place, secret))
        assert.deepStrictEqual({ ...after, headers: {} }, { ...before, headers: {} })
        assert.include(after.headers, before.headers)
        assert.strictEqual(signaturesIn(after, place).length, 1)
        assert.notInclude(JSON.stringify(after), "Canary7")
      }),
      { numRuns: runs(30) }
    )
  })
})
