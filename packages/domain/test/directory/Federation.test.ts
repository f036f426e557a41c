import { isPointer } from "@coffer/domain/directory/Claims"
import { Conditions, Expiry, Issuer, MaxAge, PublicKeys, Ttl } from "@coffer/domain/directory/Federation"
import { assert, describe, it } from "@effect/vitest"
import { Either, ParseResult, Schema } from "effect"

const problem = <A, I>(schema: Schema.Schema<A, I>, value: unknown): string =>
  Either.match(Schema.decodeUnknownEither(schema)(value), {
    onLeft: (error) => ParseResult.TreeFormatter.formatErrorSync(error),
    onRight: () => "accepted"
  })

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`/claim${at}`, "x"]))

describe("conditions", () => {
  const unnamed = /must have 1 to 20 claims/
  const unscoped = /must name an id that is never given again/

  it.each<readonly [what: string, conditions: unknown, says: RegExp]>([
    ["no object", "/repository_id=74", unnamed],
    ["null", null, unnamed],
    ["a list", [["/repository_id", "74"]], unnamed],
    ["none", {}, unnamed],
    ["21 of them", { "/repository_id": "74", ...many(20) }, unnamed],
    ["a claim without a slash", { repository_id: "74" }, unnamed],
    ["an empty name", { "/": "74" }, unnamed],
    ["an empty name within", { "/kubernetes.io//uid": "74" }, unnamed],
    ["a tilde that is no escape", { "/repository_id": "74", "/a~2": "x" }, unnamed],
    ["a name with a control character", { "/repository_id": "74", "/a\n": "x" }, unnamed],
    ["a pointer of more than 200 characters", { "/repository_id": "74", [`/${"a".repeat(200)}`]: "x" }, unnamed],
    ["a number", { "/repository_id": 74 }, unnamed],
    ["a list of texts", { "/repository_id": ["74"] }, unnamed],
    ["an object", { "/repository_id": { equals: "74" } }, unnamed],
    ["null for a text", { "/repository_id": null }, unnamed],
    ["the empty text", { "/repository_id": "" }, unnamed],
    ["a text of more than 500 characters", { "/repository_id": "7".repeat(501) }, unnamed],
    ["a text with a line break", { "/repository_id": "74\n" }, unnamed],
    ["the subject", { "/repository_id": "74", "/sub": "repo:a/b" }, /must not name \/sub/],
    [
      "workflows that anybody starts",
      { "/repository_id": "74", "/event_name": "pull_request_target" },
      /pull_request_t/
    ],
    ["names that can be given again", { "/repository": "acme/webshop", "/ref": "refs/heads/main" }, unscoped],
    ["a namespace alone", { "/kubernetes.io/namespace": "shop" }, unscoped],
    ["an account's name alone", { "/kubernetes.io/serviceaccount/name": "deploy" }, unscoped],
    ["an id of another kind", { "/run_id": "1" }, unscoped],
    ["an organization that all may be of", { "/organization_id": "1" }, unscoped],
    ["an id within another claim", { "/a/repository_id": "74" }, unscoped]
  ])("with %s are refused", (_what, conditions, says) => {
    assert.match(problem(Conditions, conditions), says)
  })

  it.each<Readonly<Record<string, string>>>([
    { "/repository_id": "74" },
    { "/repository_owner_id": "65" },
    { "/project_id": "20", "/ref": "*" },
    { "/namespace_id": "72" },
    { "/pipeline_id": "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50", "/build_branch": "main" },
    { "/oidc.circleci.com~1project-id": "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50" },
    { "/kubernetes.io/serviceaccount/uid": "14ee3fa4" },
    { "/kubernetes.io/namespace": "shop", "/kubernetes.io/serviceaccount/name": "deploy" },
    { "/repository_id": "7".repeat(500), "/event_name": "pull_request" },
    { "/repository_id": "74", "/https:~1~1example.com~1team": "x", ...many(18) }
  ])("%o are taken", (conditions) => {
    assert.strictEqual(problem(Conditions, conditions), "accepted")
  })

  it.each(["", "a", "/", "/a/", "//a", "/a~", "/a~2", "/a\u0000"])("%j is no pointer", (text) => {
    assert.isFalse(isPointer(text))
  })
})

const rsa = { kty: "RSA", n: "abc", e: "AQAB" }

describe("uploaded keys", () => {
  it.each<readonly [what: string, keys: unknown]>([
    ["a text", JSON.stringify({ keys: [rsa] })],
    ["a list", [rsa]],
    ["one key", rsa],
    ["no key", { keys: [] }],
    ["21 keys", { keys: Array.from({ length: 21 }, () => rsa) }],
    ["keys by name", { keys: { main: rsa } }],
    ["a text for a key", { keys: ["-----BEGIN PUBLIC KEY-----"] }],
    ["a key without its kind", { keys: [{ n: "abc", e: "AQAB" }] }],
    ["a key of another kind", { keys: [{ kty: "AKP" }] }],
    ["a shared secret", { keys: [{ kty: "oct", k: "c2VjcmV0" }] }],
    ...["d", "p", "q", "dp", "dq", "qi", "oth", "k"].map(
      (part) => [`the private part ${part}`, { keys: [rsa, { ...rsa, [part]: "x" }] }] as const
    ),
    ["a key of more than 8,000 characters", { keys: [{ ...rsa, x5c: ["x".repeat(8_000)] }] }]
  ])("are refused with %s", (_what, keys) => {
    assert.match(problem(PublicKeys, keys), /must be a JWK Set with 1 to 20 public keys .* and no private one/)
  })

  it("are taken as providers publish them", () => {
    const more = { use: "sig", kid: "1", alg: "RS256", x5c: ["MIIB"], x5t: "x" }
    assert.strictEqual(problem(PublicKeys, { keys: [{ ...rsa, ...more }, { kty: "OKP" }], more: 1 }), "accepted")
  })
})

describe("a federation", () => {
  it.each([
    ["http://issuer.example.com"],
    ["https://issuer.example.com/?x=1"],
    ["https://issuer.example.com/#x"],
    ["https://ada@issuer.example.com"],
    ["https://issuer.example.com/a b"],
    ["https://issuer.example.com\\evil"],
    ["https://"],
    [`https://issuer.example.com/${"x".repeat(300)}`],
    ["issuer.example.com"]
  ])("has no issuer %j", (text) => {
    assert.notStrictEqual(problem(Issuer, text), "accepted")
  })

  it("has times within their limits", () => {
    for (const [schema, values] of [
      [MaxAge, [59, 901, 60.5, "600", Number.NaN]],
      [Ttl, [59, 3_601, 0, -1]]
    ] as const) {
      for (const value of values) assert.notStrictEqual(problem(schema, value), "accepted", String(value))
    }
    for (const value of ["tomorrow", "2027-01-31", "2027-13-31T08:00:00Z", "2027-01-31T08:00:00+01:00"]) {
      assert.notStrictEqual(problem(Expiry, value), "accepted", value)
    }
    assert.strictEqual(problem(Expiry, "2027-01-31T08:00:00Z"), "accepted")
  })
})
