import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Login } from "@coffer/server/directory/login/Login"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { exchangeFailures, exchangeRefusals } from "@coffer/server/directory/federations/Exchange"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { Headers } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Effect, Metric, Redacted } from "effect"
import { afterEach, vi } from "vitest"
import { countingStatements } from "../support/FailingDriver.js"
import { account, email, entries, onDatabase, person, transaction } from "../support/Services.js"
import { clusterFederation, clusterIssuer, podClaims, Signer } from "./Signer.js"
import { exchange, federate, start, withIssuer, world } from "./World.js"

afterEach(() => {
  vi.restoreAllMocks()
})

/** Audit entries of the two are in different logs, whose counters take statements of their own. */
const lookups = /\b(users|login_codes|login_failures|rate_events|service_accounts|organizations|federations)\b/

/** The statements beside the audit log, and the verifications of signatures, that something takes. */
const workOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const verify = vi.spyOn(crypto.subtle, "verify")
    const { count } = yield* countingStatements(lookups, Effect.either(effect))
    const verifications = verify.mock.calls.length
    verify.mockRestore()
    return { statements: count, verifications }
  })

describe("the sign-in of a machine", () => {
  it.effect("takes the same lookups and verifications whether the account exists or not", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const stranger = yield* Effect.promise(() => Signer.make("RS256"))
      const sign = (by: Signer, more: object = {}) => Effect.promise(() => by.sign({ ...claims, ...more }))
      // The keys of the issuer are fetched once, and the first statements of a connection are prepared.
      yield* Effect.either(exchange(yield* sign(signer), "acme/first"))
      yield* Effect.either(exchange("nonsense", "acme/deploy"))
      for (const [what, token] of Object.entries({
        "no token": "nonsense",
        "a token of another repository": yield* sign(signer, { repository_id: "1", repository_owner_id: "2" }),
        "a stranger's signature": yield* sign(stranger),
        "an issuer that is not listed": yield* sign(signer, { iss: "https://evil.example" })
      })) {
        const known = yield* workOf(exchange(token, "acme/deploy"))
        const unknown = yield* workOf(exchange(token, "acme/nobody"))
        assert.deepStrictEqual(unknown, known, what)
        assert.strictEqual(known.verifications, what === "no token" ? 0 : 1, what)
      }
    }).pipe(withIssuer)
  )

  it.effect("takes one verification and the same lookups, however many federations and keys an account has", () =>
    Effect.gen(function* () {
      yield* world
      const [one, other, stranger] = yield* Effect.promise(() =>
        Promise.all([Signer.make("ES256"), Signer.make("ES256", "key-2"), Signer.make("ES256")])
      )
      const jwks = JSON.parse(JSON.stringify({ keys: [one.publicKey, { ...one.publicKey, kid: "again" }] }))
      for (const [name, count] of Object.entries({ none: 0, few: 1, many: 8 })) {
        const { id } = yield* account(name)
        for (let index = 0; index < count; index++) {
          const uploaded = index === 7 ? JSON.parse(JSON.stringify(other.jwks)) : jwks
          yield* federate(id, clusterIssuer, { ...clusterFederation(one, `cluster-${index}`), jwks: uploaded })
        }
      }
      const sign = (by: Signer, name: string, header: object) =>
        Effect.promise(() => by.sign(podClaims(`coffer:coffer.example.com/acme/${name}`, start), { ...header }))
      yield* Effect.either(exchange("nonsense", "acme/none"))
      for (const header of [{}, { kid: undefined }, { kid: "nobody's" }]) {
        yield* Effect.either(exchange(yield* sign(stranger, "none", header), "acme/none"))
        for (const name of ["none", "few", "many"]) {
          const work = yield* workOf(exchange(yield* sign(stranger, name, header), `acme/${name}`))
          assert.deepStrictEqual(work, { statements: work.statements, verifications: 1 }, name)
          const none = yield* workOf(exchange(yield* sign(stranger, "none", header), "acme/none"))
          assert.deepStrictEqual(work, none, `${name} ${JSON.stringify(header)}`)
        }
      }
      const taken = yield* workOf(exchange(yield* sign(one, "many", {}), "acme/many"))
      assert.strictEqual(taken.verifications, 1)
      yield* exchange(yield* sign(one, "many", {}), "acme/many")
      yield* exchange(yield* sign(other, "many", {}), "acme/many")
      yield* exchange(yield* sign(one, "few", { kid: undefined }), "acme/few")
    }).pipe(withIssuer)
  )

  it.effect("is by a key that its id tells: no federation gets another key of the same id", () =>
    Effect.gen(function* () {
      const { bot } = yield* world
      const signers = yield* Effect.promise(() => Promise.all([Signer.make("ES256"), Signer.make("ES256")]))
      const keys = signers.map(({ publicKey }) => publicKey)
      const upload = (name: string, jwks: object, issuer = clusterIssuer) =>
        Effect.map(Effect.either(federate(bot.id, issuer, { name, jwks: JSON.parse(JSON.stringify(jwks)) })), (made) =>
          made._tag === "Left" ? made.left.code : "made"
        )
      assert.strictEqual(yield* upload("both", { keys }), "CONFLICT")
      assert.strictEqual(yield* upload("first", { keys: keys.slice(0, 1) }), "made")
      assert.strictEqual(yield* upload("second", { keys: keys.slice(1) }), "CONFLICT")
      assert.strictEqual(yield* upload("same", { keys: keys.slice(0, 1) }), "made")
      assert.strictEqual(yield* upload("elsewhere", { keys: keys.slice(1) }, "https://other.example.com"), "made")
    }).pipe(withIssuer)
  )

  it.effect("is counted when it is refused, and when the limit does not let it in", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const counters = Effect.map(
        Effect.all([Metric.value(exchangeFailures), Metric.value(exchangeRefusals)]),
        ([failures, refusals]) => [failures.count, refusals.count] as const
      )
      const [failed, refused] = yield* counters
      yield* exchange(yield* Effect.promise(() => signer.sign(claims)))
      assert.deepStrictEqual(yield* counters, [failed, refused], "not when it is taken")
      for (let times = 0; times < 32; times++) yield* Effect.either(exchange("nonsense"))
      assert.deepStrictEqual(yield* counters, [failed + 30, refused + 2])
    }).pipe(withIssuer)
  )
})

describe("the session of a machine", () => {
  it.effect("ends by its own logout alone, which the log of the organization has", () =>
    Effect.gen(function* () {
      const { claims, signer } = yield* world
      const token = yield* Effect.promise(() => signer.sign(claims))
      const [one, other] = [yield* exchange(token), yield* exchange(token)]
      const { identify } = yield* Authenticator
      const whoIs = ({ token: secret }: { readonly token: Redacted.Redacted }) =>
        Effect.map(
          identify(Headers.fromInput({ authorization: `Bearer ${Redacted.value(secret)}` })),
          ({ actor }) => actor
        )
      const actor = yield* whoIs(one)
      yield* transaction(Effect.flatMap(Sessions, (sessions) => sessions.logout(actor)))
      assert.strictEqual((yield* Effect.flip(whoIs(one))).code, "UNAUTHORIZED")
      assert.strictEqual((yield* whoIs(other)).id, actor.id)
      const sql = yield* SqlClient.SqlClient
      const [{ id } = { id: "" }] = yield* sql<{ id: string }>`SELECT min(id) AS id FROM federated_sessions`
      const [left] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM federated_sessions`
      assert.strictEqual(left?.count, 1)
      const logouts = (yield* entries()).filter(({ action }) => action === "auth.logout")
      assert.strictEqual(logouts.length, 1)
      assert.notStrictEqual(logouts[0]?.resource[1], id)
      yield* transaction(Effect.flatMap(Sessions, (sessions) => sessions.logout(actor)))
      assert.strictEqual((yield* entries()).filter(({ action }) => action === "auth.logout").length, 1, "once")
    }).pipe(withIssuer)
  )
})

describe("the login of a person", () => {
  const from = (ip: string) =>
    Effect.provideService(RequestInfo, RequestInfo.of({ id: "", ip, client: null, route: null, actor: null }))
  const request = (address: string) =>
    Effect.flatMap(Login, (login) => login.request(email(address))).pipe(from("192.0.2.1"))
  const verify = (address: string) =>
    Effect.flatMap(Login, (login) => login.verify(email(address), Redacted.make("000000"))).pipe(from("192.0.2.1"))

  it.effect("takes the same statements for an address with a user and for one that may not log in", () =>
    Effect.gen(function* () {
      yield* person("ada@example.com")
      yield* person("bob@example.com")
      yield* request("bob@example.com")
      yield* Effect.either(verify("bob@example.com"))
      const attempts: ReadonlyArray<readonly [string, (address: string) => Effect.Effect<unknown, unknown, Login>]> = [
        ["a request", request],
        ["a wrong code", verify]
      ]
      for (const [what, attempt] of attempts) {
        const known = yield* workOf(attempt("ada@example.com"))
        const unknown = yield* workOf(attempt("nobody@example.com"))
        assert.deepStrictEqual(unknown, known, what)
      }
    }).pipe(onDatabase({ SERVICE_SIGNUP: "invited" }))
  )
})
