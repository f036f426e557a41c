import { assert, describe, it } from "@effect/vitest"
import { Access } from "@coffer/server/access/Access"
import { TokenTest } from "@coffer/server/directory/federations/TokenTest"
import type { FederationTrial } from "@coffer/domain/directory/Federation"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted, TestClock } from "effect"
import { account, asActor, entries, organization, orgPath, person } from "../support/Services.js"
import { Signer } from "./Signer.js"
import { audience, conditions, federate, start, withIssuer, world } from "./World.js"

const sign = (signer: Signer, claims: object) => Effect.promise(() => signer.sign({ ...claims }))

const attempt = (id: ServiceAccountId, token: string) =>
  Effect.gen(function* () {
    const { org } = yield* Access
    const ada = yield* person("ada@example.com")
    const place = yield* org(orgPath("acme"), "federation.create").pipe(asActor(ada))
    return yield* Effect.flatMap(TokenTest, (trials) => trials.attempt(place, id, Redacted.make(token)))
  })

const verdict = ({ issuer, signed, takes }: FederationTrial) => ({
  takes: takes === null ? null : String(takes),
  signed,
  issuer
})

describe("the trial of a token", () => {
  it.effect("names the federation that takes it, and for each other one what does not fit, with both values", () =>
    Effect.gen(function* () {
      const { bot, claims, issuer, signer } = yield* world
      yield* federate(bot.id, issuer.url, { name: "staging", conditions: { ...conditions, "/environment": "staging" } })
      const other = yield* Effect.promise(() => Signer.make("ES256"))
      yield* federate(bot.id, issuer.url, { name: "uploaded", jwks: { keys: [other.publicKey] } })
      yield* federate(bot.id, "https://gitlab.com", { name: "gitlab", conditions: { "/project_id": "20" } })
      const taken = yield* attempt(bot.id, yield* sign(signer, claims))
      assert.deepStrictEqual(verdict(taken), { takes: "github", signed: true, issuer: issuer.url })
      assert.deepStrictEqual(
        taken.federations.map(({ name }): string => name),
        ["github", "gitlab", "staging", "uploaded"]
      )
      assert.deepStrictEqual(
        taken.federations.map(({ failed }) => failed),
        [
          [],
          [{ claim: "iss", expected: "https://gitlab.com", found: JSON.stringify(issuer.url) }],
          [{ claim: "/environment", expected: "staging", found: '"production"' }],
          [{ claim: "signature", expected: "by a key of this federation, before its end", found: null }]
        ]
      )
      const { environment: _environment, ...without } = claims
      const refused = yield* attempt(bot.id, yield* sign(signer, { ...without, aud: "other", exp: start - 100 }))
      assert.isNull(refused.takes)
      assert.deepStrictEqual(refused.federations[0]?.failed, [
        { claim: "aud", expected: audience, found: '"other"' },
        { claim: "exp", expected: `after ${start}`, found: String(start - 100) },
        { claim: "/environment", expected: "production", found: null }
      ])
    }).pipe(withIssuer)
  )

  it.effect("starts no session, and keeps nothing of the token, whose signature may be another's", () =>
    Effect.gen(function* () {
      const { bot, claims, issuer, signer } = yield* world
      const before = (yield* entries()).length
      const token = yield* sign(signer, claims)
      yield* attempt(bot.id, token)
      const forged = yield* attempt(bot.id, `${token.slice(0, -6)}AAAAAA`)
      assert.deepStrictEqual(verdict(forged), { takes: null, signed: false, issuer: issuer.url })
      assert.strictEqual(forged.federations[0]?.failed[0]?.claim, "signature")
      assert.deepStrictEqual(verdict(yield* attempt(bot.id, "not-a-token")), {
        takes: null,
        signed: false,
        issuer: null
      })
      assert.strictEqual((yield* entries()).length, before)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM federated_sessions`, [])
      assert.deepStrictEqual(yield* sql`SELECT id FROM federations WHERE last_used_at IS NOT NULL`, [])
      const events = yield* sql`SELECT * FROM rate_events`
      assert.notInclude(JSON.stringify(events), token.slice(0, 20))
    }).pipe(withIssuer)
  )

  it.effect("is for accounts of the organization, and 30 times in 15 minutes for a person", () =>
    Effect.gen(function* () {
      const { bot } = yield* world
      yield* organization("other", "web")
      const elsewhere = yield* account("deploy", { org: "other" })
      assert.strictEqual((yield* Effect.flip(attempt(elsewhere.id, "a.b.c"))).code, "NOT_FOUND")
      for (let times = 0; times < 30; times++) yield* attempt(bot.id, "a.b.c")
      assert.strictEqual((yield* Effect.flip(attempt(bot.id, "a.b.c"))).code, "RATE_LIMITED")
      yield* TestClock.adjust("15 minutes")
      yield* attempt(bot.id, "a.b.c")
    }).pipe(withIssuer)
  )
})
