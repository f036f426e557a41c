import * as Errors from "@coffer/domain/errors/Errors"
import { HttpApiSchema } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Schema } from "effect"

/** The codes of decisions.md, in the order of their statuses. */
const table: ReadonlyArray<readonly [code: string, status: number, tag: string]> = [
  ["VALIDATION_ERROR", 400, "ValidationError"],
  ["UNAUTHORIZED", 401, "Unauthorized"],
  ["INVALID_CODE", 401, "InvalidCode"],
  ["AUTHORIZATION_PENDING", 400, "AuthorizationPending"],
  ["FORBIDDEN", 403, "Forbidden"],
  ["REAUTHENTICATE", 403, "Reauthenticate"],
  ["NOT_FOUND", 404, "NotFound"],
  ["METHOD_NOT_ALLOWED", 405, "MethodNotAllowed"],
  ["CONFLICT", 409, "Conflict"],
  ["LAST_OWNER", 409, "LastOwner"],
  ["LIMIT_EXCEEDED", 409, "LimitExceeded"],
  ["PAYLOAD_TOO_LARGE", 413, "PayloadTooLarge"],
  ["UNSUPPORTED_MEDIA_TYPE", 415, "UnsupportedMediaType"],
  ["RATE_LIMITED", 429, "RateLimited"],
  ["SLOW_DOWN", 429, "SlowDown"],
  ["LOCKED_OUT", 429, "LockedOut"],
  ["DECRYPTION_FAILED", 500, "DecryptionFailed"],
  ["INTERNAL_ERROR", 500, "InternalError"],
  ["BACKUP_FAILED", 502, "BackupFailed"],
  ["BACKUPS_DISABLED", 503, "BackupsDisabled"],
  ["NOT_READY", 503, "NotReady"],
  ["ISSUER_UNAVAILABLE", 503, "IssuerUnavailable"],
  ["OVERLOADED", 503, "Overloaded"],
  ["DATABASE_UNAVAILABLE", 503, "DatabaseUnavailable"],
  ["OUTCOME_UNKNOWN", 503, "OutcomeUnknown"],
  ["STORAGE_FULL", 507, "StorageFull"],
  ["USE_REFUSED", 403, "UseRefused"],
  ["USE_WIDENS", 409, "UseWidens"],
  ["REFERENCE_REFUSED", 409, "ReferenceRefused"],
  ["PATTERN_BROKEN", 409, "PatternBroken"],
  ["APPROVAL_NEEDED", 409, "ApprovalNeeded"],
  ["APPROVAL_REQUIRED", 409, "ApprovalRequired"],
  ["USE_BUDGET", 429, "UseBudget"],
  ["UPSTREAM_FAILED", 502, "UpstreamFailed"],
  ["BROKER_DISABLED", 503, "BrokerDisabled"]
]

const classes: ReadonlyArray<(typeof Errors.errors)[number]> = Errors.errors

describe("the errors", () => {
  it("are those of the table and no others", () => {
    const byCode = (a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]) => (a[0] < b[0] ? -1 : 1)
    assert.deepStrictEqual(
      classes.map((error) => [error.code, error.status, new error({ message: "" })._tag] as const).sort(byCode),
      [...table].sort(byCode)
    )
    assert.deepStrictEqual([...Errors.errorCodes].sort(), table.map(([code]) => code).sort())
  })

  it("are all in the list: no error is declared beside it", () => {
    const declared = Object.values(Errors).filter((value) => typeof value === "function" && "code" in value)
    assert.strictEqual(declared.length, table.length)
  })

  it.effect.prop(
    "are the envelope and nothing else on the wire",
    [FastCheck.constantFrom(...classes), FastCheck.string()],
    ([error, message]) =>
      Effect.gen(function* () {
        const encode = Schema.encodeUnknown(error as Schema.Schema<unknown, unknown>)
        const wire = { error: { code: error.code, message } }
        assert.deepStrictEqual(yield* encode(new error({ message })), wire)
        assert.deepStrictEqual(yield* encode(new error({ message, retryAfter: 7, allow: "GET" })), wire)
      })
  )

  for (const error of classes) {
    describe(error.code, () => {
      it.effect("comes back from the wire as an instance of its own class", () =>
        Effect.gen(function* () {
          const wire = JSON.parse(JSON.stringify({ error: { code: error.code, message: "why" } })) as unknown
          const decoded = yield* Schema.decodeUnknown(error as Schema.Schema<Errors.AnyApiError, unknown>)(wire)
          assert.isTrue(decoded instanceof error)
          assert.instanceOf(decoded, Error)
          assert.deepStrictEqual(
            [decoded._tag, decoded.code, decoded.status, decoded.message],
            [new error({ message: "" })._tag, error.code, error.status, "why"]
          )
          assert.isTrue(Errors.isApiError(decoded))
          for (const other of classes) assert.strictEqual(decoded instanceof other, other === error)
        })
      )

      it.effect("is not what another code, or another shape, is taken for", () =>
        Effect.gen(function* () {
          const decode = Schema.decodeUnknown(error as Schema.Schema<unknown, unknown>)
          const strangers = [
            ...table.filter(([code]) => code !== error.code).map(([code]) => ({ error: { code, message: "why" } })),
            { error: { code: error.code } },
            { error: { message: "why" } },
            { code: error.code, message: "why" },
            { _tag: new error({ message: "" })._tag, message: "why" },
            {},
            null
          ]
          for (const stranger of strangers) assert.isTrue(Exit.isFailure(yield* Effect.exit(decode(stranger))))
        })
      )

      it("has its status in the contract too", () => {
        const { ast } = error as Schema.Schema<unknown, unknown>
        assert.strictEqual(HttpApiSchema.getStatusError({ ast } as Schema.Schema.All), error.status)
        assert.strictEqual((error as Schema.Schema<unknown, unknown>).ast, ast, "the same AST each time")
      })

      it.effect("can be failed with and caught by its tag", () =>
        Effect.gen(function* () {
          const failed: Effect.Effect<never, Errors.AnyApiError> = new error({ message: "why" })
          const caught = yield* Effect.flip(failed)
          assert.strictEqual(caught._tag, new error({ message: "" })._tag)
        })
      )
    })
  }

  it("say how they are handled", () => {
    const tags = (holds: (error: (typeof classes)[number]) => boolean) => classes.filter(holds).map(({ code }) => code)
    assert.deepStrictEqual(
      tags(({ handling }) => handling.exit === "notAuthenticated"),
      ["UNAUTHORIZED", "INVALID_CODE", "AUTHORIZATION_PENDING", "REAUTHENTICATE"]
    )
    assert.deepStrictEqual(
      tags(({ handling }) => handling.exit === "notFound"),
      tags(({ status }) => status === 404)
    )
    for (const error of classes) {
      assert.strictEqual(Errors.handlingOf(error.code), error.handling)
      assert.strictEqual(new error({ message: "" }).handling, error.handling)
    }
    assert.isUndefined(Errors.handlingOf("BRAND_NEW"))
  })

  it("are told from everything else", () => {
    for (const stranger of [undefined, null, "NOT_FOUND", new Error("x"), { _tag: "NotFound", message: "x" }]) {
      assert.isFalse(Errors.isApiError(stranger))
    }
  })
})
