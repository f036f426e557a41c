import { assert, describe, it } from "@effect/vitest"
import { pollBundle } from "@coffer/domain/client/BundleClient"
import { makeClient } from "@coffer/domain/client/CofferClient"
import { parseServerUrl } from "@coffer/domain/client/ServerUrl"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect, Either, Option, Redacted } from "effect"
import { json, listen, withVariables } from "./Support.js"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const obeysProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)

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

describe.skipIf(!obeysProxies)("with HTTP_PROXY", () => {
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

  it.scopedLive("requests to this machine, and to hosts of NO_PROXY, do not go to the proxy", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* proxy
      const server = yield* proxy
      assert.strictEqual(yield* withVariables({ HTTP_PROXY: url })(failuresAt(server.url)), 0)
      const variables = { HTTP_PROXY: url, NO_PROXY: "coffer.invalid" }
      assert.strictEqual(yield* withVariables(variables)(failuresAt("http://coffer.invalid")), 2)
      assert.deepStrictEqual(requests, [])
    })
  )
})
