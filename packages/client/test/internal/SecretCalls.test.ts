import { getSecret, readSecret, readWritten } from "@coffer/client/internal/OneSecret"
import { readBundle, readListed } from "@coffer/client/internal/SecretRecords"
import { Bundle } from "@coffer/domain/secrets/Bundle"
import { SecretListed, SecretRead, SecretWritten } from "@coffer/domain/secrets/Secret"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, FastCheck as fc, Option, Predicate, Redacted, Schema } from "effect"
import { clientFor, json, listen } from "./Support.js"

/** Values without their protection, which hides differences. */
const open = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return { redacted: Redacted.value(value) }
  if (Array.isArray(value)) return value.map(open)
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, open(each)]))
    : value
}

/** A record with one change: a field more, one less, or one of another kind. */
const nearly = (record: object) =>
  fc.oneof(
    fc.constant(record),
    fc.constant({ ...record, more: 1 }),
    fc.constantFrom(...Object.keys(record)).chain((name) =>
      fc.constantFrom<unknown>(undefined, null, 1.5, -1, "x", "", [], {}, "\ud800").map((other) => {
        const left = Object.entries(record).filter(([key]) => key !== name)
        return Object.fromEntries(other === undefined ? left : [...left, [name, other]])
      })
    )
  )

const agree = <A, I extends object>(
  schema: Schema.Schema<A, I>,
  plain: (found: unknown) => Option.Option<unknown>,
  shown: (decoded: A) => unknown = (decoded) => decoded
) => {
  const encode = Schema.encodeSync(schema)
  const records = Arbitrary.make(schema).map((decoded) => encode(decoded))
  fc.assert(
    fc.property(records.chain(nearly), (record) => {
      const typed = Option.map(Schema.decodeUnknownOption(schema)(record), shown)
      assert.deepStrictEqual(open(Option.getOrUndefined(plain(record))), open(Option.getOrUndefined(typed)))
    }),
    { numRuns: 200 }
  )
}

describe("the plain decoders", () => {
  it("agree with the contract's schemas on a secret", () => agree(SecretRead, readSecret))
  it("agree with the contract's schemas on a secret after a write", () => agree(SecretWritten, readWritten))
  it("agree with the contract's schemas on a secret in a list", () => agree(SecretListed, readListed))
  it("agree with the contract's schemas on a bundle", () =>
    agree(Bundle, readBundle, ({ data, errors = [], revision }) => ({
      revision,
      secrets: data.map(({ key, value }) => ({ key, value })),
      refused: errors
    })))
})

const place = { org_name: "acme", project_name: "webshop", env_name: "dev" }

const envelope = (code: string) => ({ error: { code, message: "the reason" } })

describe("an error of the service", () => {
  it.scopedLive("is its own class for a plain call, with the seconds to wait", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => {
        response.setHeader("retry-after", "7")
        json(response, 503, envelope("DATABASE_UNAVAILABLE"))
      })
      const { exchange } = yield* clientFor(server.url)
      const error = yield* Effect.flip(getSecret(exchange, place, "KEY", {}))
      assert.deepInclude(error, { _tag: "DatabaseUnavailable", message: "the reason", retryAfter: 7 })
    })
  )

  it.scopedLive("with an unknown code, or another status, is told by its code", () =>
    Effect.gen(function* () {
      for (const [status, code] of [
        [418, "TEAPOT"],
        [404, "FORBIDDEN"]
      ] as const) {
        const server = yield* listen((_request, response) => json(response, status, envelope(code)))
        const { exchange } = yield* clientFor(server.url)
        const error = yield* Effect.flip(getSecret(exchange, place, "KEY", {}))
        assert.deepInclude(error, { _tag: "UnknownApiError", status, code, message: "the reason" })
      }
    })
  )
})
