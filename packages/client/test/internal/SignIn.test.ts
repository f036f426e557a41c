import { assert, describe, it } from "@effect/vitest"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { Effect, Either, Option, Redacted, TestClock } from "effect"
import { clientFor, json, listen, withVariables } from "./Support.js"

const variables = { SERVICE_ACCOUNT: "acme/deploy", SERVICE_ID_TOKEN: "e30.e30.c2ln" }
const envelope = (code: string, message: string) => ({ error: { code, message } })
const name = { id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90", type: "service_account", name: "deploy", org: "acme" }
const me = { ...name, project: null, is_superadmin: false }

/** A server that gives sessions of 15 minutes; its clock is years behind. */
const issuing = Effect.gen(function* () {
  const state = { isDown: false, issued: 0, isRefusing: false }
  const server = yield* listen((request, response) => {
    if (request.url !== "/api/auth/federate") {
      if (!state.isRefusing) return json(response, 200, me)
      return json(response, 401, envelope("UNAUTHORIZED", "no"))
    }
    if (state.isDown) return json(response, 401, envelope("UNAUTHORIZED", "no federation takes this token"))
    state.issued++
    response.setHeader("date", "Thu, 01 Jan 2015 00:00:00 GMT")
    json(response, 200, { token: `svc_ft_${state.issued}`, expires_at: "2015-01-01T00:15:00.000Z" })
  })
  const url = Either.getOrThrow(parseServerUrl(server.url, "variable"))
  const credential = credentialFor(url).pipe(withVariables(variables))
  return { state, server, credential, secret: Effect.map(credential, ({ secret }) => Redacted.value(secret)) }
})

describe("a session of a service account", () => {
  it.scoped("is shared by all requests of a program, and renewed a minute before its end", () =>
    Effect.gen(function* () {
      const { secret, state } = yield* issuing
      assert.deepStrictEqual(yield* Effect.all([secret, secret, secret], { concurrency: 3 }), Array(3).fill("svc_ft_1"))
      yield* TestClock.adjust("839 seconds")
      assert.strictEqual(yield* secret, "svc_ft_1")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* secret, "svc_ft_2")
      assert.strictEqual(state.issued, 2)
    })
  )

  it.scoped("goes on to its end if it cannot be renewed, and then says why", () =>
    Effect.gen(function* () {
      const { credential, secret, state } = yield* issuing
      assert.strictEqual(yield* secret, "svc_ft_1")
      state.isDown = true
      yield* TestClock.adjust("14 minutes")
      assert.strictEqual(yield* secret, "svc_ft_1")
      yield* TestClock.adjust("1 minute")
      const error = yield* Effect.flip(credential)
      assert.strictEqual(error._tag, "SignInFailed")
      assert.strictEqual(
        error.message,
        "the server does not let acme/deploy sign in: no federation takes this token; compare it with: coffer service-account trust list 'deploy' --org acme"
      )
    })
  )

  it.scoped("is replaced after the server has refused it", () =>
    Effect.gen(function* () {
      const { credential, secret, server, state } = yield* issuing
      const client = yield* clientFor(server.url, Option.some(yield* credential))
      state.isRefusing = true
      const error = yield* Effect.flip(client.call("auth", (api) => api.me({})))
      assert.strictEqual(error._tag, "Unauthorized")
      state.isRefusing = false
      assert.strictEqual(yield* secret, "svc_ft_2")
      yield* client.call("auth", (api) => api.me({}))
      assert.strictEqual(server.requests.at(-1)?.headers.authorization, "Bearer svc_ft_2")
    })
  )

  it.scoped("does not come from another program, nor with a token of another form", () =>
    Effect.gen(function* () {
      for (const body of [
        "<html>",
        { token: "svc_sa_1", expires_at: "2015-01-01T00:15:00.000Z" },
        { token: "svc_ft_1" }
      ]) {
        const server = yield* listen((_, response) => json(response, 200, body))
        const url = Either.getOrThrow(parseServerUrl(server.url, "variable"))
        const error = yield* Effect.flip(credentialFor(url).pipe(withVariables(variables)))
        assert.strictEqual(error._tag, "UnexpectedResponse")
      }
    })
  )
})
