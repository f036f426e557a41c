import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { account } from "../support/Services.js"
import { clusterIssuer, podClaims, Signer } from "./Signer.js"
import { exchange, federate, githubClaims, start, withIssuer, world } from "./World.js"

const at = (seconds: number) => TestClock.setTime((start + seconds) * 1000)
const sign = (signer: Signer, issuer: string, seconds: number) =>
  Effect.promise(() => signer.sign(githubClaims(issuer, start + seconds)))
const isTaken = (token: string, name?: string) =>
  Effect.map(Effect.either(exchange(token, name)), ({ _tag }) => _tag === "Right")

describe("the keys of an issuer", () => {
  it.effect("are fetched again when a token names an unknown key: at most once a minute", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      const next = yield* Effect.promise(() => Signer.make("EdDSA", "key-2"))
      assert.isTrue(yield* isTaken(yield* sign(signer, issuer.url, 0)))
      assert.strictEqual(issuer.fetches, 1)
      issuer.keys = [next.publicKey]
      assert.isFalse(yield* isTaken(yield* sign(next, issuer.url, 0)), "within the minute of the last fetch")
      assert.strictEqual(issuer.fetches, 1)
      yield* at(60)
      assert.isTrue(yield* isTaken(yield* sign(next, issuer.url, 60)), "the new key")
      assert.isFalse(yield* isTaken(yield* sign(signer, issuer.url, 60)), "the key that is gone")
      assert.strictEqual(issuer.fetches, 2)
    }).pipe(withIssuer)
  )

  it.effect("are fetched once for many at the same time", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      const token = yield* sign(signer, issuer.url, 0)
      yield* Effect.all(
        Array.from({ length: 20 }, () => exchange(token)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(issuer.fetches, 1)
    }).pipe(withIssuer)
  )

  it.effect("are fetched also for a client that goes away before they have come", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      const token = yield* sign(signer, issuer.url, 0)
      const asked = yield* Deferred.make<() => void>()
      issuer.instead.set("/jwks", (response) => {
        const answer = () => void response.end(JSON.stringify({ keys: issuer.keys }))
        Deferred.unsafeDone(asked, Effect.succeed(answer))
      })
      const gone = yield* Effect.fork(exchange(token))
      const answer = yield* Deferred.await(asked)
      yield* Fiber.interrupt(gone)
      const next = yield* Effect.fork(isTaken(token))
      answer()
      assert.isTrue(yield* Fiber.join(next))
      assert.strictEqual(issuer.fetches, 1)
    }).pipe(withIssuer)
  )

  it.effect("are used for a day while the issuer cannot be reached, and no longer", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      assert.isTrue(yield* isTaken(yield* sign(signer, issuer.url, 0)))
      issuer.instead.set("/jwks", (response) => response.writeHead(503).end())
      const day = 24 * 60 * 60
      yield* at(day - 1)
      assert.isTrue(yield* isTaken(yield* sign(signer, issuer.url, day - 1)))
      yield* at(day + 60)
      const error = yield* Effect.flip(exchange(yield* sign(signer, issuer.url, day + 60)))
      assert.match(error.message, /the keys of the token's issuer cannot be fetched now/)
      assert.strictEqual(error.code, "ISSUER_UNAVAILABLE")
      assert.strictEqual(error.retryAfter, 60)
      issuer.instead.clear()
      yield* at(day + 120)
      assert.isTrue(yield* isTaken(yield* sign(signer, issuer.url, day + 120)))
    }).pipe(withIssuer)
  )

  it.effect("are not taken from a document with any fault", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      const discovery = "/.well-known/openid-configuration"
      const wrong: ReadonlyArray<
        readonly [string, (to: (path: string, status: number, body: string) => void) => void]
      > = [
        [
          "another issuer's document",
          (to) => to(discovery, 200, '{"issuer":"https://x.test","jwks_uri":"https://x.test"}')
        ],
        ["no address of the keys", (to) => to(discovery, 200, JSON.stringify({ issuer: issuer.url }))],
        ["no JSON", (to) => to(discovery, 200, "<html>")],
        ["a document that does not exist", (to) => to(discovery, 404, "{}")],
        [
          "keys at a private address",
          (to) => to(discovery, 200, JSON.stringify({ issuer: issuer.url, jwks_uri: "https://10.0.0.1/jwks" }))
        ],
        [
          "keys without TLS",
          (to) => to(discovery, 200, JSON.stringify({ issuer: issuer.url, jwks_uri: "http://issuer.test/jwks" }))
        ],
        ["keys of 10 MB", (to) => to("/jwks", 200, JSON.stringify({ keys: [], more: "x".repeat(10_000_000) }))],
        ["keys that are no list", (to) => to("/jwks", 200, '{"keys":{}}')],
        ["an error", (to) => to("/jwks", 500, JSON.stringify(signer.jwks))]
      ]
      let seconds = 0
      for (const [what, set] of wrong) {
        issuer.instead.clear()
        set((path, status, body) => issuer.instead.set(path, (response) => response.writeHead(status).end(body)))
        const error = yield* Effect.flip(exchange(yield* sign(signer, issuer.url, seconds)))
        assert.strictEqual(error.code, "ISSUER_UNAVAILABLE", what)
        seconds += 60
        yield* at(seconds)
      }
      issuer.instead.clear()
      issuer.instead.set("/jwks", (response) => response.writeHead(302, { location: "https://10.0.0.1/" }).end())
      assert.match(
        (yield* Effect.flip(exchange(yield* sign(signer, issuer.url, seconds)))).message,
        /cannot be fetched/
      )
    }).pipe(withIssuer)
  )

  it.effect("that cannot be fetched stop no federation with uploaded ones, and count as nobody's failure", () =>
    Effect.gen(function* () {
      const { issuer, signer } = yield* world
      const bot = yield* account("pod")
      const own = yield* Effect.promise(() => Signer.make("RS256", "uploaded"))
      yield* federate(bot.id, issuer.url, { jwks: JSON.parse(JSON.stringify(own.jwks)) })
      issuer.instead.set("/jwks", (response) => response.writeHead(503).end())
      const claims = { ...githubClaims(issuer.url), aud: "coffer:coffer.example.com/acme/pod" }
      assert.isTrue(yield* isTaken(yield* Effect.promise(() => own.sign(claims)), "acme/pod"))
      for (let times = 0; times < 31; times++) {
        const error = yield* Effect.flip(exchange(yield* sign(signer, issuer.url, 0)))
        assert.strictEqual(error.code, "ISSUER_UNAVAILABLE")
      }
      const nobody = yield* Effect.flip(exchange(yield* sign(signer, issuer.url, 0), "acme/nobody"))
      assert.strictEqual(nobody.code, "ISSUER_UNAVAILABLE", "whether the account is there or not")
      assert.strictEqual(issuer.asked.filter((path) => path === "/jwks").length, 1)
    }).pipe(withIssuer)
  )

  it.effect("may be uploaded, and then are used alone", () =>
    Effect.gen(function* () {
      const { issuer } = yield* world
      const bot = yield* account("pod")
      const signer = yield* Effect.promise(() => Signer.make("RS256", "cluster"))
      const stranger = yield* Effect.promise(() => Signer.make("RS256", "cluster"))
      yield* federate(bot.id, clusterIssuer, {
        jwks: JSON.parse(JSON.stringify(signer.jwks)),
        conditions: { "/kubernetes.io/namespace": "shop", "/kubernetes.io/serviceaccount/name": "deploy" }
      })
      const claims = podClaims("coffer:coffer.example.com/acme/pod", start)
      const token = yield* Effect.promise(() => signer.sign(claims))
      assert.isTrue(yield* isTaken(token, "acme/pod"))
      assert.isFalse(yield* isTaken(yield* Effect.promise(() => stranger.sign(claims)), "acme/pod"))
      const other = { ...claims, "kubernetes.io": { namespace: "shop", serviceaccount: { name: "default", uid: "u" } } }
      const message = (yield* Effect.flip(exchange(yield* Effect.promise(() => signer.sign(other)), "acme/pod")))
        .message
      assert.match(message, /\/kubernetes\.io\/serviceaccount\/name is "default"/)
      assert.strictEqual(issuer.fetches, 0)
    }).pipe(withIssuer)
  )

  it.effect("failures are limited to 30 in 15 minutes for an account and an address", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const good = yield* Effect.promise(() => signer.sign(claims))
      for (let times = 0; times < 30; times++) {
        assert.strictEqual((yield* Effect.flip(exchange("nonsense"))).code, "UNAUTHORIZED")
      }
      assert.strictEqual((yield* Effect.flip(exchange("nonsense"))).code, "RATE_LIMITED")
      assert.strictEqual((yield* Effect.flip(exchange(good))).code, "RATE_LIMITED")
      yield* exchange(good, "acme/deploy", "192.0.2.2")
      assert.strictEqual((yield* Effect.flip(exchange("nonsense", "acme/other"))).code, "UNAUTHORIZED")
      yield* at(900)
      yield* exchange(yield* sign(signer, String(claims["iss"]), 900))
    }).pipe(withIssuer)
  )
})
