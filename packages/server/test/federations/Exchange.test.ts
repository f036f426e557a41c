import { assert, describe, it } from "@effect/vitest"
import { Authenticator } from "@coffer/server/auth/Authenticator"
import { Effect, Redacted } from "effect"
import { exchange, start, withIssuer, world } from "./World.js"

describe("a token of a federation's issuer", () => {
  it.effect("is exchanged for a session of the account, which both sides of the log have", () =>
    Effect.gen(function* () {
      const { bot, claims, federation, issuer, signer } = yield* world
      const token = yield* Effect.promise(() => signer.sign(claims))
      const session = yield* exchange(token)
      assert.match(Redacted.value(session.token), /^svc_ft_/)
      assert.strictEqual(session.expires_at, new Date((start + 900) * 1000).toISOString())
      const headers = { authorization: `Bearer ${Redacted.value(session.token)}` }
      const actor = yield* Effect.flatMap(Authenticator, ({ identify }) => identify(headers as never))
      assert.strictEqual(actor.id, bot.id)
      assert.strictEqual(issuer.fetches, 1)
      assert.strictEqual(federation.audience, claims["aud"])
    }).pipe(withIssuer)
  )
})
