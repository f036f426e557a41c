import type { BundleRequest } from "../../src/internal/BundleClient.js"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, TestClock } from "effect"
import { keepCopy, readCopy, showAge } from "../../src/internal/OfflineCopies.js"
import { type Copied, openCopy, sealCopy } from "../../src/internal/OfflineCopy.js"
import { folder } from "./Support.js"

const request: BundleRequest = {
  server: { base: "https://a.example", origin: "https://a.example", local: false, secure: true, source: "flag" },
  credential: { type: "api_key", secret: Redacted.make("svc_sa_one") },
  path: { org_name: "acme", project_name: "webshop", env_name: "prod" },
  keys: ["B", "A"],
  version: "1.0.0"
}
const copied: Copied = {
  secrets: [
    { key: "A", value: Redacted.make("canary-value") },
    { key: "B", value: Redacted.make("") },
    { key: "__proto__", value: Redacted.make("ünïcödé\n") }
  ],
  refused: new Map([["C", "C refers to a secret that does not exist"]])
}

const opened = (other: BundleRequest, text: string) =>
  Option.map(openCopy(other, text), (copy) => ({
    savedAt: copy.savedAt,
    secrets: copy.secrets.map(({ key, value }) => [key, Redacted.value(value)]),
    refused: copy.refused
  }))

describe("the copy of a bundle", () => {
  it("gives back what it was made of, whatever the order of its keys", () => {
    const text = sealCopy(request, copied, 1_700_000_000_000)
    const whole = {
      savedAt: 1_700_000_000_000,
      secrets: copied.secrets.map(({ key, value }) => [key, Redacted.value(value)]),
      refused: copied.refused
    }
    assert.deepStrictEqual(opened(request, text), Option.some(whole))
    assert.deepStrictEqual(opened({ ...request, keys: ["A", "B"] }, text), Option.some(whole))
  })

  it("shows nothing of what it holds", () => {
    const text = sealCopy(request, copied, 0)
    for (const word of ["canary", "acme", "webshop", "svc_sa", Buffer.from("canary-value").toString("base64")]) {
      assert.notInclude(text, word)
    }
    assert.notStrictEqual(sealCopy(request, copied, 0), text)
  })

  it("is opened for the same server, place, keys and credential alone", () => {
    const text = sealCopy(request, copied, 0)
    const { credential, path, server } = request
    const others: ReadonlyArray<BundleRequest> = [
      { ...request, server: { ...server, base: "https://b.example" } },
      { ...request, server: { ...server, base: "https://a.example/coffer" } },
      { ...request, path: { ...path, org_name: "acme2" } },
      { ...request, path: { ...path, project_name: "other" } },
      { ...request, path: { ...path, env_name: "dev" } },
      { ...request, keys: [] },
      { ...request, keys: ["A"] },
      { ...request, credential: { type: "api_key", secret: Redacted.make("svc_sa_two") } },
      { ...request, credential: { ...credential, type: "session" } }
    ]
    for (const other of others) assert.deepStrictEqual(opened(other, text), Option.none())
  })

  it("is refused when one bit of it has changed, its time too", () => {
    const text = sealCopy(request, copied, 1_700_000_000_000)
    const {
      data,
      format,
      nonce,
      salt,
      savedAt
    }: Record<"data" | "format" | "nonce" | "salt", string> & {
      savedAt: number
    } = JSON.parse(text)
    const flips = (base64: string) => {
      const bytes = Buffer.from(base64, "base64")
      return Array.from(bytes, (byte, at) => {
        const flipped = Buffer.from(bytes)
        flipped[at] = byte ^ 1
        return flipped.toString("base64")
      })
    }
    const changed = [
      ...flips(data).map((other) => ({ format, savedAt, salt, nonce, data: other })),
      ...flips(nonce).map((other) => ({ format, savedAt, salt, nonce: other, data })),
      ...flips(salt).map((other) => ({ format, savedAt, salt: other, nonce, data })),
      { format, savedAt: savedAt + 1, salt, nonce, data },
      { format, salt, nonce, data },
      { format, savedAt, salt, nonce, data: "" }
    ]
    for (const other of changed) assert.deepStrictEqual(opened(request, JSON.stringify(other)), Option.none())
    for (const other of ["", "{", "null", "[]", text.slice(0, -20)]) {
      assert.deepStrictEqual(opened(request, other), Option.none())
    }
  })

  it.scoped("is renewed before it is too old, and when the clock was set back", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const minute = 60_000
      const at = (minutes: number, maxAge: number) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(minutes * minute)
          yield* keepCopy(root, request, copied, maxAge * minute)
          return (yield* readCopy(root, request, maxAge * minute)).savedAt / minute
        })
      assert.strictEqual(yield* at(60, 1_440), 60)
      assert.strictEqual(yield* at(70, 1_440), 60)
      assert.strictEqual(yield* at(75, 1_440), 75)
      // Half as old as it may be, although it was confirmed a moment ago.
      assert.strictEqual(yield* at(78, 10), 78)
      assert.strictEqual(yield* at(80, 10), 78)
      assert.strictEqual(yield* at(20, 1_440), 20)
    })
  )

  it("has an age that people can read", () => {
    assert.strictEqual(showAge(0), "0 s")
    assert.strictEqual(showAge(59_999), "59 s")
    assert.strictEqual(showAge(3 * 3_600_000 + 12 * 60_000 + 5000), "3 h 12 min")
    assert.strictEqual(showAge(86_400_000 + 1000), "1 d 1 s")
  })
})
