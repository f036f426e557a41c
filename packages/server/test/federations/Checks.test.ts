import { identifying } from "@coffer/domain/directory/Claims"
import { FederationId } from "@coffer/domain/base/Ids"
import { FederationName } from "@coffer/domain/base/Names"
import { explain, recordOf, sentenceOf } from "@coffer/server/directory/federations/ClaimChecks"
import type { FederationRow } from "@coffer/server/directory/federations/Repo"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const now = 1_800_000_000
const skew = 60

/** A time near the limits of what is taken, or no time at all. */
const time = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .integer({ min: -2, max: 2 })
      .chain((by) => fc.constantFrom(-700, -600, -60, 0, 60).map((to) => now + to + by))
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(undefined, null, "1800000000", NaN, Infinity) }
)
const audience = fc.constantFrom("coffer:a", "coffer:b")
const repository = fc.constantFrom<Array<string>>("1", "2")
const branch = fc.constantFrom("main", "dev")

const claims = fc.record(
  {
    aud: fc.oneof(audience, fc.array(audience, { maxLength: 2 })),
    exp: time,
    nbf: time,
    iat: time,
    repository_id: fc.oneof(repository, fc.constant<unknown>(1)),
    "kubernetes.io": fc.record({ namespace: branch }),
    ref: branch
  },
  { requiredKeys: [] }
)

/** A federation, as a test reads it. */
const terms = fc.record({
  audience,
  max_age: fc.constantFrom(60, 600),
  repository,
  ref: fc.option(branch, { nil: undefined }),
  namespace: fc.option(branch, { nil: undefined })
})
type Made<A> = A extends fc.Arbitrary<infer Value> ? Value : never
type Terms = Made<typeof terms>
type Token = Made<typeof claims>

const rowOf = ({ audience, max_age, namespace, ref, repository }: Terms, index: number): FederationRow => ({
  id: FederationId.make(`0192f0c1-5b7e-7c3a-9d2e-00000000000${index}`),
  name: FederationName.make(`f${index}`),
  issuer: "https://issuer.test",
  audience,
  has_keys: 0,
  conditions: JSON.stringify({
    "/repository_id": repository,
    ...(ref !== undefined && { "/ref": ref }),
    ...(namespace !== undefined && { "/kubernetes.io/namespace": namespace })
  }),
  max_age,
  ttl: 900,
  expires_at: null,
  created_by: "ada",
  created_at: "2026-01-01T00:00:00.000Z",
  last_used_at: null
})

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

/** The names of the claims that do not fit a federation, or an audience alone. */
const unfitting = (token: Token, audience: string | null, one?: Terms): ReadonlyArray<string> => {
  const { aud, exp, iat, nbf } = token
  const audiences = Array.isArray(aud) ? aud : [aud]
  const basics = [
    audience === null || (audiences.length === 1 && audiences[0] === audience) ? [] : ["aud"],
    isNumber(exp) && exp > now - skew ? [] : ["exp"],
    !("nbf" in token) || nbf === undefined || (isNumber(nbf) && nbf <= now + skew) ? [] : ["nbf"],
    isNumber(iat) && iat <= now + skew ? [] : ["iat"]
  ]
  if (one === undefined) return basics.flat()
  return [
    ...basics.flat(),
    ...(isNumber(iat) && iat < now - one.max_age ? ["iat"] : []),
    ...(token.repository_id === one.repository ? [] : ["/repository_id"]),
    ...(one.ref === undefined || token.ref === one.ref ? [] : ["/ref"]),
    ...(one.namespace === undefined || token["kubernetes.io"]?.namespace === one.namespace
      ? []
      : ["/kubernetes.io/namespace"])
  ]
}

const named = (mismatches: ReadonlyArray<{ readonly claim: string }>) => mismatches.map(({ claim }) => claim).sort()

const check = (token: Token, federations: ReadonlyArray<FederationRow>, audience: string | null) =>
  Effect.runSync(explain({ issuer: "https://issuer.test", claims: token, federations }, audience, now))

describe("the check of a token's claims", () => {
  it("takes the first federation that all claims fit, and notes for each of them what did not", () => {
    const seen = { fitting: 0, others: 0 }
    fc.assert(
      fc.property(claims, fc.array(terms, { minLength: 1, maxLength: 3 }), audience, (token, all, audience) => {
        const rows = all.map(rowOf)
        const { failed, fitting } = check(token, rows, audience)
        const wrong = all.map((one) => unfitting(token, one.audience, one))
        const expected = rows.find((_, index) => wrong[index]?.length === 0) ?? null
        assert.strictEqual(fitting, expected)
        assert.deepStrictEqual(named(failed), wrong.flat().sort())
        seen[fitting === null ? "others" : "fitting"]++
      }),
      { numRuns: runs(4_000) }
    )
    assert.isAbove(Math.min(seen.fitting, seen.others), 0)
  })

  it("shows the caller each claim once, by the token's own value, and those of federations only if they are for its workload", () => {
    fc.assert(
      fc.property(claims, fc.array(terms, { maxLength: 3 }), fc.option(audience), (token, all, audience) => {
        const { shown } = check(token, all.map(rowOf), audience)
        const ours = all.filter(
          (one) => !unfitting(token, one.audience, one).some((claim) => identifying.includes(claim))
        )
        const ofOurs = ours.flatMap((one) => unfitting(token, one.audience, one))
        const ofIdentity = [
          ...("repository_id" in token ? ["/repository_id"] : []),
          ...(token["kubernetes.io"] === undefined ? [] : ["/kubernetes.io/namespace"])
        ]
        const expected = ofOurs.length > 0 ? ofOurs : [...unfitting(token, audience), ...ofIdentity]
        assert.deepStrictEqual(named(shown), [...new Set(expected)].sort())
      }),
      { numRuns: runs(4_000) }
    )
  })

  it("shows the same for federations of other workloads as for no federation at all", () => {
    const other = terms.map((one) => ({ ...one, repository: "3" }))
    fc.assert(
      fc.property(claims, fc.array(other, { maxLength: 3 }), audience, (token, all, audience) => {
        assert.deepStrictEqual(check(token, all.map(rowOf), audience).shown, check(token, [], audience).shown)
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("says what did not fit without what was expected, which the record alone has", () => {
    const mismatch = fc.record({
      claim: fc.constantFrom("/ref", "aud"),
      found: fc.oneof(fc.constant(undefined), fc.string(), fc.jsonValue()),
      expected: fc.string({ maxLength: 20 }).map((text) => `Expected7${text}`)
    })
    fc.assert(
      fc.property(fc.array(mismatch, { maxLength: 30 }), (failed) => {
        assert.notInclude(sentenceOf(failed), "Expected7")
        const record = recordOf(failed)
        assert.strictEqual(record.length, Math.min(20, failed.length))
        for (const [index, { claim, expected, found }] of record.entries()) {
          assert.deepStrictEqual(
            { claim, expected },
            { claim: failed[index]?.claim, expected: failed[index]?.expected }
          )
          assert.isString(found)
          assert.isAtMost(String(found).length, 200)
        }
      }),
      { numRuns: runs(500) }
    )
  })
})
