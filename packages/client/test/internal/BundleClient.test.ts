import { assert, describe, it } from "@effect/vitest"
import { makeClient } from "@coffer/client/internal/CofferClient"
import { type BundleRequest, pollBundle } from "@coffer/client/internal/BundleClient"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { listOf } from "@coffer/domain/secrets/Bundle"
import { Effect, Either, Option, Redacted } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { json, listen } from "./Support.js"

const path = {
  org_name: OrgName.make("acme"),
  project_name: ProjectName.make("webshop"),
  env_name: EnvName.make("dev")
}
const at = "2026-01-31T12:00:00.000Z"
const secret = (key: string, value: string) => ({ key, value, version: 1, updated_at: at })
const envelope = (code: string) => ({ error: { code, message: "the reason" } })
const etag = '"e1"'

type Answer = (request: IncomingMessage, response: ServerResponse) => void
const page =
  (status: number, text: string): Answer =>
  (_, response) =>
    void response.writeHead(status).end(text)
const record =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.setHeader("etag", etag)
    json(response, status, body)
  }

const answers: Readonly<Record<string, Answer>> = {
  "no secrets": record(200, { revision: 3, data: [] }),
  "secrets of every kind": record(200, {
    revision: 3,
    data: [
      secret("EMPTY", ""),
      secret("LINES", "one\ntwo\r\n"),
      secret("UNICODE", "šüß\u{1f511}\u0000"),
      secret("a.dotted-key", "x".repeat(65_536))
    ]
  }),
  "a newer server's fields": record(200, { revision: 3, more: 1, data: [{ ...secret("KEY", "v"), colour: "blue" }] }),
  "nothing new": (_, response) => void response.writeHead(304).end(),
  "another program's page": page(200, "<html>Welcome</html>"),
  "another program's JSON": record(200, { items: [] }),
  "a list of other things": record(200, { revision: 3, data: [{ id: 1 }] }),
  "a secret without a value": record(200, { revision: 3, data: [{ key: "KEY", version: 1, updated_at: at }] }),
  "a value that is a number": record(200, { revision: 3, data: [{ ...secret("KEY", ""), value: 1 }] }),
  "no credential": record(401, envelope("UNAUTHORIZED")),
  "no right": record(403, envelope("FORBIDDEN")),
  "no environment": record(404, envelope("NOT_FOUND")),
  "an altered secret": record(500, envelope("DECRYPTION_FAILED")),
  "an unknown code": record(418, envelope("TEAPOT")),
  "a proxy's page": page(403, "<html>Forbidden</html>"),
  "a redirect": (_, response) => void response.writeHead(302, { location: "https://elsewhere.example/x" }).end(),
  "an empty response": page(200, ""),
  "a broken response": (_, response) => {
    response.writeHead(200, { "content-length": "1000" })
    response.write('{"data":')
    setTimeout(() => response.destroy(), 20)
  },
  "no response": (request) => void request.socket.destroy()
}

/**
 * Returns the part of an error on which both clients must agree. Errors of the contract are compared by code: the endpoint
 * declares only some of them.
 */
const outcome = <E extends { readonly _tag: string; readonly message: string }>(error: E) =>
  "code" in error ? { code: error.code, message: error.message } : { tag: error._tag, message: error.message }

const viaTypedClient = (request: BundleRequest) =>
  Effect.gen(function* () {
    const { credential, keys, server, version } = request
    const client = yield* makeClient({ server, credential: Option.some(credential), program: "cli", version })
    const urlParams = keys.length === 0 ? {} : { keys: keys.map((key) => SecretKey.make(key)) }
    const headers = { "if-none-match": '"e0"' }
    const [bundle, { headers: answered }] = yield* client.call("environments", (api) =>
      api.bundle({ path, urlParams, headers, withResponse: true })
    )
    const list = listOf(bundle)
    return list === undefined
      ? "unchanged"
      : { etag: answered["etag"], values: list.data.map(({ key, value }) => [key, Redacted.value(value)]) }
  }).pipe(Effect.catchAll((error) => Effect.succeed(outcome(error))))

const viaFastPath = (request: BundleRequest) =>
  Effect.map(pollBundle(request, '"e0"'), (answer) =>
    answer.type === "unchanged"
      ? "unchanged"
      : {
          etag: answer.bundle.etag,
          values: answer.bundle.secrets.map(({ key, value }) => [key, Redacted.value(value)])
        }
  ).pipe(Effect.catchAll((error) => Effect.succeed(outcome(error))))

describe("the fast path of coffer run and the typed client", () => {
  for (const [name, answer] of Object.entries(answers)) {
    it.scopedLive(`send the same request and read the same from ${name}`, () =>
      Effect.gen(function* () {
        const service = yield* listen(answer)
        const request: BundleRequest = {
          server: Either.getOrThrow(parseServerUrl(service.url, "flag")),
          credential: { type: "api_key", secret: Redacted.make("svc_sa_key") },
          version: "1.2.3",
          path,
          keys: ["API_KEY", "DATABASE_URL"]
        }
        const fast = yield* viaFastPath(request)
        const [first] = service.requests
        const typed = yield* viaTypedClient(request)
        assert.deepStrictEqual(fast, typed)
        for (const sent of service.requests) assert.deepStrictEqual(sent, first)
      })
    )
  }
})

describe("a response without an end", () => {
  it.scopedLive("is given up before it fills the memory", () =>
    Effect.gen(function* () {
      const chunk = Buffer.alloc(2 ** 20, "x")
      let sent = 0
      const service = yield* listen((_, response) => {
        const write = () => {
          while (!response.destroyed && sent < 1024) {
            sent += 1
            if (!response.write(chunk)) return void response.once("drain", write)
          }
          response.end()
        }
        write()
      })
      const server = Either.getOrThrow(parseServerUrl(service.url, "flag"))
      const credential = { type: "api_key", secret: Redacted.make("svc_sa_key") } as const
      const error = yield* Effect.flip(pollBundle({ server, credential, version: "1.2.3", path, keys: [] }, undefined))
      assert.strictEqual(error.message, `cannot reach ${service.url}: its response is too long`)
      assert.isBelow(sent, 300)
    })
  )
})

describe("the connections of a client", () => {
  it.live("are shared by its requests, and closed with its scope", () =>
    Effect.gen(function* () {
      const ports = new Set<number>()
      const closed: Array<Promise<unknown>> = []
      yield* Effect.scoped(
        Effect.gen(function* () {
          const service = yield* listen((request, response) => {
            const { remotePort = 0 } = request.socket
            if (!ports.has(remotePort)) closed.push(new Promise((resolve) => request.socket.once("close", resolve)))
            ports.add(remotePort)
            json(response, 200, { status: "ok" })
          })
          const server = Either.getOrThrow(parseServerUrl(service.url, "flag"))
          yield* Effect.scoped(
            Effect.gen(function* () {
              const client = yield* makeClient({ server, credential: Option.none(), program: "mcp", version: "1.2.3" })
              for (let request = 0; request < 3; request++) yield* client.call("system", (api) => api.health())
            })
          )
          yield* Effect.promise(() => Promise.all(closed))
        })
      )
      assert.strictEqual(ports.size, 1)
    })
  )
})
