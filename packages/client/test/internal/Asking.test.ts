import { breakingGlass, withReason } from "@coffer/client/internal/Asking"
import { setSecret } from "@coffer/client/internal/OneSecret"
import { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { clientFor, json, listen } from "./Support.js"

const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8"
const at = "2026-01-31T12:00:00.000Z"

/** The server's response to a change of a protected environment. */
const request = {
  id,
  kind: "change",
  state: "pending",
  project: "webshop",
  env: "prod",
  requester: "ci",
  call: "secrets.set",
  keys: [{ key: "KEY", change: "updated", version: 3 }],
  needed: 2,
  votes: [],
  may_vote: false,
  is_own: true,
  created_at: at,
  expires_at: at
}

const path = {
  org_name: OrgName.make("acme"),
  project_name: ProjectName.make("webshop"),
  env_name: EnvName.make("prod"),
  key: SecretKey.make("KEY")
}
const value = Redacted.make(SecretValue.make("canary"))

describe("a change of a protected environment", () => {
  it.scopedLive("is a typed failure with the request, of the typed call as of the plain one", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 202, request))
      const { call, exchange } = yield* clientFor(server.url)
      const typed = yield* Effect.flip(call("secrets", (api) => api.set({ path, payload: { value } })))
      const plain = yield* Effect.flip(setSecret(exchange, path, path.key, { value }))
      const removed = yield* Effect.flip(call("secrets", (api) => api.delete({ path, urlParams: {} })))
      for (const failure of [typed, plain, removed]) {
        assert.instanceOf(failure, ChangeRequested)
        assert.deepEqual<unknown>(failure._tag === "ChangeRequested" ? { ...failure.request } : undefined, request)
        assert.include(failure.message, `nothing was changed yet`)
      }
    })
  )

  it.scopedLive("is an unexpected response where the answer is anything but a valid request", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 202, { ...request, needed: "two" }))
      const { call, exchange } = yield* clientFor(server.url)
      const typed = yield* Effect.flip(call("secrets", (api) => api.set({ path, payload: { value } })))
      const plain = yield* Effect.flip(setSecret(exchange, path, path.key, { value }))
      for (const failure of [typed, plain]) assert.deepInclude(failure, { _tag: "UnexpectedResponse", status: 202 })
    })
  )
})

it.scopedLive("every request but reads asks to wait for votes, with the reasons of its effect alone", () =>
  Effect.gen(function* () {
    const server = yield* listen((_request, response) =>
      json(response, 418, { error: { code: "TEAPOT", message: "" } })
    )
    const { call, exchange } = yield* clientFor(server.url)
    const write = Effect.ignore(setSecret(exchange, path, path.key, { value }))
    const read = Effect.ignore(call("secrets", (api) => api.get({ path, urlParams: {} })))
    yield* withReason("INC-12: ü\u{1f511}")(Effect.zipRight(write, read))
    yield* breakingGlass("it burns, 100 %")(write)
    yield* write
    const sent = server.requests.map(({ headers }) => [
      headers["prefer"],
      headers["x-coffer-reason"],
      headers["x-coffer-break-glass"]
    ])
    assert.deepStrictEqual(sent, [
      ["respond-async", "INC-12%3A%20%C3%BC%F0%9F%94%91", undefined],
      [undefined, undefined, undefined],
      ["respond-async", undefined, "it%20burns%2C%20100%20%25"],
      ["respond-async", undefined, undefined]
    ])
  })
)
