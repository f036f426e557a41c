import { assert, describe, it } from "@effect/vitest"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { Effect, Option, Redacted } from "effect"
import { clientFor, json, listen } from "./Support.js"

const path = {
  org_name: OrgName.make("acme"),
  project_name: ProjectName.make("webshop"),
  env_name: EnvName.make("dev"),
  key: SecretKey.make("KEY")
}
const { key: _, ...envPath } = path
const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const at = "2026-01-31T12:00:00.000Z"
const envelope = (code: string) => ({ error: { code, message: "the reason" } })
const session = Option.some({ type: "session", secret: Redacted.make("svc_st_token") } as const)

describe("an answer of a newer server", () => {
  it.scopedLive("may have more fields, and words that this client does not know", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) =>
        json(response, 200, {
          data: [{ id, name: "acme", role: "emperor", created_at: at, updated_at: at, colour: "blue" }],
          more: true
        })
      )
      const client = yield* clientFor(server.url)
      const { data } = yield* client.call("organizations", (api) => api.list({}))
      assert.deepStrictEqual(
        data.map(({ name, role }) => ({ name, role: role ?? "" })),
        [{ name: path.org_name, role: "emperor" }]
      )
    })
  )

  it.scopedLive("may have a code that this client does not know, at any status", () =>
    Effect.gen(function* () {
      for (const status of [400, 404, 418, 429, 500]) {
        const server = yield* listen((_request, response) => json(response, status, envelope("TEAPOT")))
        const client = yield* clientFor(server.url)
        const error = yield* Effect.flip(client.call("secrets", (api) => api.get({ path, urlParams: {} })))
        assert.strictEqual(error._tag, "UnknownApiError")
        assert.deepInclude(error, { status, code: "TEAPOT", message: "the reason" })
      }
    })
  )

  it.scopedLive("may have a known code where this client does not expect it", () =>
    Effect.gen(function* () {
      for (const [status, code] of [
        [429, "RATE_LIMITED"],
        [404, "FORBIDDEN"]
      ] as const) {
        const server = yield* listen((_request, response) => json(response, status, envelope(code)))
        const client = yield* clientFor(server.url)
        const error = yield* Effect.flip(client.call("secrets", (api) => api.get({ path, urlParams: {} })))
        assert.strictEqual(error._tag, "UnknownApiError")
        assert.deepInclude(error, { status, code })
      }
    })
  )
})

describe("an error of the contract", () => {
  it.scopedLive("is its own class again", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 404, envelope("NOT_FOUND")))
      const client = yield* clientFor(server.url)
      const message = yield* client
        .call("secrets", (api) => api.get({ path, urlParams: {} }))
        .pipe(
          Effect.as("no error"),
          Effect.catchTag("NotFound", (error) => Effect.succeed(error.message))
        )
      assert.strictEqual(message, "the reason")
    })
  )
})

describe("the seconds to wait", () => {
  it.scopedLive("are a field of the error", () =>
    Effect.gen(function* () {
      for (const [status, code, tag] of [
        [503, "DATABASE_UNAVAILABLE", "DatabaseUnavailable"],
        [429, "TEAPOT", "UnknownApiError"]
      ] as const) {
        const server = yield* listen((_request, response) => {
          response.setHeader("retry-after", "7")
          json(response, status, envelope(code))
        })
        const client = yield* clientFor(server.url)
        const error = yield* Effect.flip(client.call("secrets", (api) => api.get({ path, urlParams: {} })))
        assert.deepInclude(error, { _tag: tag, retryAfter: 7 })
      }
    })
  )
})

describe("an overloaded server", () => {
  it.scopedLive("is asked again, for a change too, because it did nothing", () =>
    Effect.gen(function* () {
      let refusals = 1
      const server = yield* listen((_request, response) => {
        if (refusals-- > 0) json(response, 503, envelope("OVERLOADED"))
        else json(response, 200, { key: "KEY", version: 1, created_at: at, updated_at: at })
      })
      const client = yield* clientFor(server.url)
      const payload = { value: Redacted.make(SecretValue.make("x")) }
      const { version } = yield* client.call("secrets", (api) => api.set({ path, payload }))
      assert.strictEqual(version, 1)
      assert.lengthOf(server.requests, 2)
    })
  )

  it.scopedLive("is asked again not before the time that it names", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const server = yield* listen((_request, response) => {
        times.push(performance.now())
        response.setHeader("retry-after", "2")
        if (times.length === 1) json(response, 503, envelope("OVERLOADED"))
        else json(response, 200, { data: [] })
      })
      const client = yield* clientFor(server.url)
      yield* client.call("organizations", (api) => api.list({}))
      const [first = 0, second = 0] = times
      assert.isAtLeast(second - first, 1_990)
    })
  )

  it.scopedLive("that stays so is told as such, after the third time", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 503, envelope("OVERLOADED")))
      const client = yield* clientFor(server.url)
      const error = yield* Effect.flip(client.call("secrets", (api) => api.get({ path, urlParams: {} })))
      assert.strictEqual(error._tag, "Overloaded")
      assert.lengthOf(server.requests, 3)
    })
  )
})

describe("an answer not from the service", () => {
  it.scopedLive("is told by its status: a proxy's page, asked for again where nothing was written", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => response.writeHead(502).end("<html>Bad Gateway</html>"))
      const client = yield* clientFor(server.url)
      const read = yield* Effect.flip(client.call("secrets", (api) => api.get({ path, urlParams: {} })))
      assert.deepInclude(read, { _tag: "UnexpectedResponse", status: 502 })
      assert.strictEqual(server.requests.length, 3)
      const payload = { value: Redacted.make("x") as never }
      const write = yield* Effect.flip(client.call("secrets", (api) => api.set({ path, payload })))
      assert.deepInclude(write, { _tag: "UnexpectedResponse", status: 502 })
      assert.strictEqual(server.requests.length, 4)
    })
  )

  it.scopedLive("is told by its status: a page with status 200", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => response.end("<html>Welcome</html>"))
      const client = yield* clientFor(server.url)
      const error = yield* Effect.flip(client.call("environments", (api) => api.list({ path: envPath })))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", status: 200 })
    })
  )

  it.scopedLive("may be a redirect, which gets nothing", () =>
    Effect.gen(function* () {
      const elsewhere = yield* listen((_request, response) => json(response, 200, { data: [] }))
      for (const status of [301, 302, 303, 307, 308]) {
        const server = yield* listen((_request, response) =>
          response.writeHead(status, { location: `${elsewhere.url}/api/orgs` }).end()
        )
        const client = yield* clientFor(server.url, session)
        const error = yield* Effect.flip(client.call("organizations", (api) => api.list({})))
        assert.deepInclude(error, { _tag: "UnexpectedResponse", status, redirect: elsewhere.url })
      }
      assert.deepStrictEqual(elsewhere.requests, [])
    })
  )

  it.scopedLive("may be missing: a refused connection is an unreachable server", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(listen(() => {}))
      const client = yield* clientFor(gone.url)
      const error = yield* Effect.flip(client.call("system", (api) => api.health({})))
      assert.deepInclude(error, { _tag: "ServerUnreachable", reason: "connection refused" })
    })
  )

  it.scopedLive("may break in the middle", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write('{"data":')
        setTimeout(() => response.destroy(), 20)
      })
      const client = yield* clientFor(server.url)
      const error = yield* Effect.flip(client.call("organizations", (api) => api.list({})))
      assert.strictEqual(error._tag, "ServerUnreachable")
      assert.strictEqual(server.requests.length, 3)
    })
  )
})

describe("a request", () => {
  it.scopedLive("that breaks a bound of the contract is not sent, and fails with the field and the rule", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 200, {}))
      const client = yield* clientFor(server.url)
      const failure = yield* Effect.flip(
        client.call("audit", (api) => api.list({ path: { org_name: path.org_name }, urlParams: { limit: 1_000 } }))
      )
      assert.deepInclude(failure, {
        _tag: "InvalidRequest",
        field: "limit",
        reason: "must be a whole number from 1 to 100"
      })
      assert.deepStrictEqual(server.requests, [])
    })
  )

  it.scopedLive("that does not encode never repeats a secret value", () =>
    Effect.gen(function* () {
      const client = yield* clientFor("http://127.0.0.1:1")
      const payload = { value: Redacted.make("x".repeat(65_537)) as never }
      const failure = yield* Effect.flip(client.call("secrets", (api) => api.set({ path, payload })))
      assert.deepInclude(failure, { _tag: "InvalidRequest", field: "value" })
      assert.notInclude(failure.message, "xx")
    })
  )

  it.scopedLive("says who asks, and with what", () =>
    Effect.gen(function* () {
      const server = yield* listen((_request, response) => json(response, 200, { data: [] }))
      const ask = (credential: Parameters<typeof clientFor>[1]) =>
        Effect.flatMap(clientFor(server.url, credential), (client) =>
          client.call("organizations", (api) => api.list({}))
        )
      yield* ask(session)
      yield* ask(Option.some({ type: "api_key", secret: Redacted.make("svc_sa_key") } as const))
      yield* ask(Option.none())
      const seen = server.requests.map(({ headers }) => [headers.authorization, headers["x-api-key"]])
      assert.deepStrictEqual(seen, [
        ["Bearer svc_st_token", undefined],
        [undefined, "svc_sa_key"],
        [undefined, undefined]
      ])
      const headers = server.requests[0]?.headers ?? {}
      assert.strictEqual(headers["user-agent"], "coffer/1.2.3")
      assert.strictEqual(headers["x-coffer-client"], "cli")
      assert.notProperty(headers, "traceparent")
    })
  )

  it.scopedLive("asks for a bundle with its ETag, and may hear that nothing has changed", () =>
    Effect.gen(function* () {
      const server = yield* listen((request, response) =>
        request.headers["if-none-match"] === '"e1"'
          ? response.writeHead(304).end()
          : (response.setHeader("etag", '"e1"'), json(response, 200, { revision: 3, data: [] }))
      )
      const client = yield* clientFor(server.url)
      const ask = (headers: { readonly "if-none-match"?: string }) =>
        client.call("environments", (api) =>
          api.bundle({ path: envPath, urlParams: { keys: [path.key] }, headers, withResponse: true })
        )
      const [bundle, response] = yield* ask({})
      assert.deepStrictEqual(bundle, { revision: 3, data: [] })
      const [again] = yield* ask({ "if-none-match": response.headers["etag"] ?? "" })
      assert.isUndefined(again)
      assert.match(server.requests[0]?.url ?? "", /\/envs\/dev\/bundle\?keys=KEY$/)
    })
  )
})
