import { assert, describe, it } from "@effect/vitest"
import { pollBundle } from "@coffer/client/internal/BundleClient"
import { makeClient } from "@coffer/client/internal/CofferClient"
import { obeysProxy } from "@coffer/client/internal/Proxy"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { Effect, Either, Option, Redacted } from "effect"
import { json, listen, withVariables } from "./Support.js"

const serverAt = (url: string) => Either.getOrThrow(parseServerUrl(url, "flag"))
const credential = { type: "api_key", secret: Redacted.make("svc_sa_key") } as const
const path = {
  org_name: OrgName.make("acme"),
  project_name: ProjectName.make("webshop"),
  env_name: EnvName.make("dev")
}

/** Sends a request with the typed client and one with the fast path of `coffer run`, and returns how many failed. */
const failuresAt = (url: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = serverAt(url)
      const client = yield* makeClient({ server, credential: Option.some(credential), program: "cli", version: "1" })
      const failed = yield* Effect.all([
        Effect.isFailure(client.call("environments", (api) => api.bundle({ path, urlParams: {}, headers: {} }))),
        Effect.isFailure(pollBundle({ server, credential, version: "1", path, keys: [] }, undefined))
      ])
      return failed.filter((each) => each).length
    })
  )

describe.skipIf(!obeysProxy(process.versions))("with HTTP_PROXY", () => {
  const proxy = listen((_request, response) => json(response, 200, { revision: 1, data: [] }))

  it.scopedLive("both clients send their requests to the proxy", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* proxy
      assert.strictEqual(yield* withVariables({ HTTP_PROXY: url })(failuresAt("http://coffer.example")), 0)
      const target = "http://coffer.example/api/orgs/acme/projects/webshop/envs/dev/bundle"
      assert.deepStrictEqual(
        requests.map((request) => request.url),
        [target, target]
      )
    })
  )

  it.scopedLive("the proxy may have no scheme, and one that cannot be used is named", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* proxy
      const HTTP_PROXY = url.replace("http://", "")
      assert.strictEqual(yield* withVariables({ HTTP_PROXY })(failuresAt("http://coffer.example")), 0)
      assert.lengthOf(requests, 2)
      const server = serverAt("http://coffer.example")
      const request = { server, credential, version: "1", path, keys: [] }
      const failure = yield* Effect.flip(
        withVariables({ HTTP_PROXY: "socks5://127.0.0.1:1" })(pollBundle(request, undefined))
      )
      assert.match(failure.message, /^cannot reach http:\/\/coffer\.example: HTTP_PROXY names a proxy that is neither/)
    })
  )

  it.scopedLive("requests to this machine, and to hosts of NO_PROXY, do not go to the proxy", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* proxy
      const server = yield* proxy
      assert.strictEqual(yield* withVariables({ HTTP_PROXY: url })(failuresAt(server.url)), 0)
      for (const NO_PROXY of ["coffer.internal.invalid", "internal.invalid"]) {
        const variables = { HTTP_PROXY: url, NO_PROXY }
        assert.strictEqual(yield* withVariables(variables)(failuresAt("http://coffer.internal.invalid")), 2)
      }
      assert.deepStrictEqual(requests, [])
    })
  )
})
