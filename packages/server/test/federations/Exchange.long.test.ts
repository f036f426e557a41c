import { assert, describe, it } from "@effect/vitest"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted, TestClock } from "effect"
import { createHmac } from "node:crypto"
import { entries } from "../support/Services.js"
import { type Claims, Signer } from "./Signer.js"
import { audience, exchange, federate, start, withIssuer, world } from "./World.js"

const whoIs = (token: Redacted.Redacted) =>
  Effect.flatMap(Authenticator, ({ identify }) =>
    Effect.map(identify(Headers.fromInput({ authorization: `Bearer ${Redacted.value(token)}` })), ({ actor }) => actor)
  )

const sign = (signer: Signer, claims: Claims, header: Readonly<Record<string, unknown>> = {}) =>
  Effect.promise(() => signer.sign(claims, header))

const refusal = (token: string, name?: string) =>
  Effect.map(Effect.flip(exchange(token, name)), ({ code, message }) => `${code} ${message}`)

const unsigned = /^UNAUTHORIZED the token is refused: it is malformed, its signature does not hold, or /

const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

describe("a token of a federation's issuer", () => {
  it.effect("is exchanged for a session of the account, as often as it is valid", () =>
    Effect.gen(function* () {
      const { bot, claims, federation, issuer, signer } = yield* world
      const token = yield* sign(signer, claims)
      const session = yield* exchange(token)
      assert.match(Redacted.value(session.token), /^svc_ft_/)
      assert.strictEqual(session.expires_at, new Date((start + 900) * 1000).toISOString())
      const actor = yield* whoIs(session.token)
      assert.strictEqual(actor.id, bot.id)
      assert.strictEqual(federation.audience, audience)
      const again = yield* exchange(token)
      assert.notStrictEqual(Redacted.value(again.token), Redacted.value(session.token))
      assert.strictEqual(issuer.fetches, 1)
      const found = (yield* entries()).filter(({ action }) => action === "auth.federate")
      assert.strictEqual(found.length, 2)
    }).pipe(withIssuer)
  )

  it.effect(
    "opens nothing once its federation is removed, the session included, and nothing once that has expired",
    () =>
      Effect.gen(function* () {
        const { claims, federation, signer } = yield* world
        const token = yield* sign(signer, claims)
        const session = yield* exchange(token)
        yield* TestClock.setTime((start + 899) * 1000)
        yield* whoIs(session.token)
        yield* TestClock.setTime((start + 900) * 1000)
        assert.strictEqual((yield* Effect.flip(whoIs(session.token))).code, "UNAUTHORIZED")

        yield* TestClock.setTime(start * 1000)
        const other = yield* exchange(token)
        yield* whoIs(other.token)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE federations SET removed_at = 'now' WHERE id = ${federation.id}`
        assert.strictEqual((yield* Effect.flip(whoIs(other.token))).code, "UNAUTHORIZED")
        assert.match(yield* refusal(token), /no federation of account acme\/deploy takes this token/)
        yield* sql`UPDATE federations SET removed_at = NULL`
        yield* whoIs(other.token)
        for (const table of ["service_accounts", "organizations"]) {
          yield* sql`UPDATE ${sql(table)} SET removed_at = 'now'`
          assert.strictEqual((yield* Effect.flip(whoIs(other.token))).code, "UNAUTHORIZED", table)
          assert.match(yield* refusal(token), /no federation of account/)
          yield* sql`UPDATE ${sql(table)} SET removed_at = NULL`
        }
      }).pipe(withIssuer)
  )

  it.effect("ends with its federation, when that ends before its time", () =>
    Effect.gen(function* () {
      const { bot, claims, issuer, signer } = yield* world
      const expires_at = new Date((start + 100) * 1000).toISOString()
      yield* federate(bot.id, issuer.url, { name: "brief", expires_at, conditions: { "/repository_owner_id": "7" } })
      const token = yield* sign(signer, { ...claims, repository_id: "1", repository_owner_id: "7" })
      assert.strictEqual((yield* exchange(token)).expires_at, expires_at)
      yield* TestClock.setTime((start + 100) * 1000)
      assert.match(yield* refusal(token), /no federation/)
    }).pipe(withIssuer)
  )
})

/** Changes of a sound token, each of which alone is reason to refuse it, and what the refusal says. */
const changed: ReadonlyArray<readonly [what: string, change: Claims, says: RegExp]> = [
  [
    "another audience",
    { aud: "coffer:coffer.example.com/acme/other" },
    /: aud is "coffer:coffer\.example\.com\/acme\/other"$/
  ],
  ["the audience in capitals", { aud: audience.toUpperCase() }, /: aud is "COFFER:/],
  ["the audience and another", { aud: [audience, "sts.amazonaws.com"] }, /: aud is \["coffer:/],
  ["no audience", { aud: undefined }, /: aud is absent/],
  ["an empty list of audiences", { aud: [] }, /: aud is \[\]/],
  ["a repository beside", { repository_id: "75" }, /: \/repository_id is "75"/],
  ["a number for a repository", { repository_id: 74 }, /\/repository_id is 74(,|$)/],
  ["a list with the repository", { repository_id: ["74"] }, /\/repository_id is \["74"\]/],
  ["a space after the repository", { repository_id: "74 " }, /\/repository_id is "74 "/],
  ["no repository", { repository_id: undefined }, /\/repository_owner_id is "65"$/],
  ["another environment", { environment: "Production" }, /: \/environment is "Production"$/],
  ["no environment", { environment: undefined }, /: \/environment is absent$/],
  ["an end that is past by more than the skew", { exp: start - 60 }, /: exp is \d+$/],
  ["no end", { exp: undefined }, /: exp is absent$/],
  ["an end that is text", { exp: String(start + 300) }, /: exp is "\d+"$/],
  ["an end that is infinite", { exp: null }, /: exp is null$/],
  ["a beginning after the skew", { nbf: start + 61 }, /: nbf is \d+$/],
  ["a beginning that is text", { nbf: "0" }, /: nbf is "0"$/],
  ["an issue after the skew", { iat: start + 61 }, /: iat is \d+$/],
  ["an issue too long ago", { iat: start - 601 }, /: iat is \d+$/],
  ["no issue", { iat: undefined }, /: iat is absent$/]
]

/** Changes that a token may have. */
const allowed: ReadonlyArray<readonly [what: string, change: Claims]> = [
  ["the audience as a list of it alone", { aud: [audience] }],
  ["an end within the skew", { exp: start - 59 }],
  ["a beginning within the skew", { nbf: start + 60 }],
  ["no beginning", { nbf: undefined }],
  ["an issue within the skew", { iat: start + 60 }],
  ["the greatest age", { iat: start - 600 }],
  ["another sub, whose form issuers change", { sub: "repo:octo-org@65/octo-repo@74:environment:production" }]
]

describe("a token whose signature holds", () => {
  it.effect("is refused for any single claim that does not fit, with its own value and never the expected one", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      for (const [what, change, says] of changed) {
        const message = yield* refusal(yield* sign(signer, { ...claims, ...change }))
        assert.match(message, says, what)
        assert.match(message, /^UNAUTHORIZED no federation of account acme\/deploy takes this token: /, what)
        assert.notMatch(message, /"74"$|"production"/, what)
      }
    }).pipe(withIssuer)
  )

  it.effect("is taken with what the rules allow", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      for (const [what, change] of allowed) {
        const session = yield* Effect.either(exchange(yield* sign(signer, { ...claims, ...change })))
        assert.strictEqual(session._tag, "Right", what)
      }
    }).pipe(withIssuer)
  )

  it.effect("and is of another repository learns as little as if the account were not there", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const foreign = { ...claims, repository_id: "1", repository_owner_id: "2", environment: "x", iat: start - 700 }
      const named = yield* refusal(yield* sign(signer, foreign))
      const unknown = yield* refusal(
        yield* sign(signer, { ...foreign, aud: "coffer:coffer.example.com/acme/nobody" }),
        "acme/nobody"
      )
      assert.strictEqual(named.replaceAll("deploy", "nobody"), unknown)
      const elsewhere = yield* refusal(
        yield* sign(signer, { ...foreign, aud: "coffer:coffer.example.com/none/deploy" }),
        "none/deploy"
      )
      assert.strictEqual(named.replace("acme/", "none/"), elsewhere)
    }).pipe(withIssuer)
  )

  it.effect("is in the log with both sides of each claim that did not fit", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      yield* refusal(yield* sign(signer, { ...claims, environment: "staging" }))
      const entry = (yield* entries()).find(({ action }) => action === "auth.federate")
      assert.deepStrictEqual(entry?.metadata, {
        refused: true,
        issuer: claims["iss"],
        subject: claims["sub"],
        failed: [{ claim: "/environment", found: '"staging"', expected: "production" }]
      })
    }).pipe(withIssuer)
  )
})

describe("the algorithm of a token", () => {
  it.effect("is RS256, ES256 or EdDSA, whatever other keys the issuer publishes", () =>
    Effect.gen(function* () {
      const { claims, issuer } = yield* world
      const taken = ["RS256", "ES256", "EdDSA"]
      const refused = ["RS384", "RS512", "PS256", "PS384", "PS512", "ES384", "ES512"]
      const signers = yield* Effect.promise(() =>
        Promise.all([...taken, ...refused].map((algorithm) => Signer.make(algorithm, `key of ${algorithm}`)))
      )
      issuer.keys = signers.map(({ publicKey }) => publicKey)
      for (const signer of signers) {
        const outcome = yield* Effect.either(exchange(yield* sign(signer, claims)))
        assert.strictEqual(outcome._tag, taken.includes(signer.algorithm) ? "Right" : "Left", signer.algorithm)
        if (outcome._tag === "Left") assert.match(`${outcome.left.code} ${outcome.left.message}`, unsigned)
      }
    }).pipe(withIssuer)
  )

  it.effect("is not HMAC with what is public, in any size and any spelling of the key", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const der = Buffer.from(String(signer.publicKey.n), "base64url")
      for (const alg of ["HS256", "HS384", "HS512"]) {
        for (const secret of [JSON.stringify(signer.publicKey), JSON.stringify(signer.jwks), der, "", signer.kid]) {
          const head = `${text({ alg, kid: signer.kid, typ: "JWT" })}.${text(claims)}`
          const mac = createHmac(alg.replace("HS", "sha"), secret).update(head).digest("base64url")
          assert.match(yield* refusal(`${head}.${mac}`), unsigned, alg)
        }
      }
    }).pipe(withIssuer)
  )
})

describe("a token whose signature does not hold", () => {
  it.effect("is refused in the same words, whatever is wrong with it and whether the account is there", () =>
    Effect.gen(function* () {
      const { claims, issuer, signer } = yield* world
      const stranger = yield* Effect.promise(() => Signer.make("RS256"))
      const es = yield* Effect.promise(() => Signer.make("ES384"))
      const sound = yield* sign(signer, claims)
      const [head = "", payload = "", signature = ""] = sound.split(".")
      const hmac = yield* Effect.promise(async () => {
        const { CompactSign } = await import("jose")
        const secret = new TextEncoder().encode(JSON.stringify(signer.publicKey))
        return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
          .setProtectedHeader({ alg: "HS256", kid: signer.kid })
          .sign(secret)
      })
      const forged: Readonly<Record<string, string>> = {
        "no token": "nonsense",
        empty: "",
        "two parts": `${head}.${payload}`,
        "four parts": `${sound}.x`,
        "no algorithm": `${text({ alg: "none" })}.${payload}.`,
        "the algorithm None": `${text({ alg: "None", kid: signer.kid })}.${payload}.${signature}`,
        "HMAC with the public key": hmac,
        "no signature": `${head}.${payload}.`,
        "another payload": `${head}.${text({ ...claims, environment: "production", x: 1 })}.${signature}`,
        "another header": `${text({ alg: "RS512", kid: signer.kid })}.${payload}.${signature}`,
        "a stranger's key with the right kid": yield* sign(stranger, claims),
        "a kid that is unknown": yield* sign(stranger, claims, { kid: "nobody's" }),
        "a key that is in the token": yield* sign(stranger, claims, { jwk: stranger.publicKey }),
        "a key that the token points to": yield* sign(stranger, claims, { jku: `${issuer.url}/stranger` }),
        "a certificate that the token points to": yield* sign(stranger, claims, { x5u: `${issuer.url}/stranger` }),
        "an algorithm that is not taken": yield* sign(es, claims),
        "an extension that has to be understood": yield* sign(signer, claims, { crit: ["extension"], extension: 1 }),
        "a payload that is no object": yield* Effect.promise(() => signer.sign([claims] as never)),
        "another encoding of the signature": `${head}.${payload}.${signature}=`,
        "a space behind it": `${sound} `,
        "a certificate chain that is in the token": yield* sign(stranger, claims, { x5c: ["MIIB"] }),
        "an issuer that is not listed": yield* sign(stranger, { ...claims, iss: "https://evil.example" }),
        "no issuer": yield* sign(signer, { ...claims, iss: undefined }),
        "an issuer that is no text": yield* sign(signer, { ...claims, iss: [issuer.url] }),
        "the issuer with a slash": yield* sign(signer, { ...claims, iss: `${issuer.url}/` })
      }
      issuer.instead.set("/stranger", (response) => response.end(JSON.stringify(stranger.jwks)))
      for (const [what, token] of Object.entries(forged)) {
        assert.match(yield* refusal(token), unsigned, what)
      }
      const alike = yield* refusal(yield* sign(stranger, claims), "acme/nobody")
      assert.strictEqual(alike, yield* refusal(yield* sign(stranger, claims)))
      assert.notInclude(issuer.asked, "/stranger")
    }).pipe(withIssuer)
  )
})
