import type { ServerResponse } from "node:http"
import { Tenant } from "@coffer/server/base/Tenant"
import { NetworkAccess } from "@coffer/server/base/outbound/Outbound"
import { ClientDocuments, isDocumentAddress, keptMillis } from "@coffer/server/directory/consents/ClientDocuments"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { afterAll, beforeAll } from "vitest"
import { certificateFor, host } from "../federations/Issuer.js"
import { configAt } from "../support/Services.js"
import { Upstream } from "../use/Upstream.js"

const certificate = certificateFor(host, "127.0.0.1")
let upstream: Upstream
let id: string

beforeAll(async () => {
  upstream = await Upstream.start(certificate)
  id = `https://${host}:${upstream.port}/client.json`
})

afterAll(() => upstream.stop())

interface World {
  readonly networks?: string
  readonly address?: string
}

/** Runs a test with the programs of documents, and a resolver for which every name has one address. */
const withDocuments =
  ({ address = "127.0.0.1", networks = "127.0.0.0/8" }: World = {}) =>
  <A, E>(test: Effect.Effect<A, E, ClientDocuments>) =>
    Effect.provide(
      test,
      ClientDocuments.Default.pipe(
        Layer.provide(configAt("unused.db", { SERVICE_OUTBOUND_ALLOW_NETWORKS: networks })),
        Layer.provide(
          Layer.succeed(
            NetworkAccess,
            NetworkAccess.of({
              resolve: () => Promise.resolve([{ address, family: 4 }]),
              certificates: certificate.cert
            })
          )
        )
      )
    )

const find = (of = id) => Effect.flatMap(ClientDocuments, (documents) => documents.find(of))

const problem = (of = id) => Effect.map(Effect.flip(find(of)), ({ message }) => message)

const documentOf = (fields: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({
    client_id: id,
    client_name: "Agent",
    redirect_uris: ["https://agents.example.com/callback", "javascript:alert(1)"],
    ...fields
  })

const json = (text: string, headers: Readonly<Record<string, string>> = {}) => {
  upstream.answer = (response) => response.writeHead(200, { "content-type": "application/json", ...headers }).end(text)
}

const answering = (answer: (response: ServerResponse) => unknown) => {
  upstream.answer = (response) => void answer(response)
}

describe("the document of a program", () => {
  it.each([
    "http://agents.example.com/client.json",
    "https://agents.example.com/",
    "https://agents.example.com/client.json#x",
    "https://user@agents.example.com/client.json",
    "https://agents.example.com/a/../client.json",
    "https://AGENTS.example.com/client.json",
    "https://0x7f000001/client.json",
    "file:///client.json"
  ])("is not fetched from %s", (address) => {
    assert.isFalse(isDocumentAddress(address))
  })

  it("is kept as long as its headers say, and a day at most", () => {
    assert.deepStrictEqual(
      ["", "no-store", "no-cache, max-age=9", "max-age=60", "public, max-age=99999999"].map(keptMillis),
      [...[0, 0, 0], 60_000, 86_400_000]
    )
  })

  it.live(
    "describes it, without redirect addresses that run scripts, and is asked for again unless it may be kept",
    () =>
      Effect.gen(function* () {
        const before = upstream.arrived.length
        json(documentOf())
        const program = { id, name: "Agent", host, redirectUris: ["https://agents.example.com/callback"] }
        assert.deepInclude(yield* find(), { ...program, host: new URL(id).host })
        yield* find()
        assert.strictEqual(upstream.arrived.length, before + 2)
        json(documentOf(), { "cache-control": "max-age=60" })
        yield* find()
        yield* find()
        assert.strictEqual(upstream.arrived.length, before + 3)
        const { headers, method } = upstream.arrived.at(-1)!
        assert.deepStrictEqual([method, headers.authorization, headers.cookie], ["GET", undefined, undefined])
      }).pipe(withDocuments())
  )

  it.live("has at most 5 KiB, of which no more is read", () =>
    Effect.gen(function* () {
      const empty = documentOf({ padding: "" }).length
      json(documentOf({ padding: "x".repeat(5 * 1024 - empty) }))
      yield* find()
      json(documentOf({ padding: "x".repeat(5 * 1024 - empty + 1) }))
      assert.match(yield* problem(), /larger than 5120 bytes/)
      let written = 0
      let isClosed = false
      answering((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.on("close", () => (isClosed = true))
        const more = () => {
          while (!isClosed && response.write(Buffer.alloc(16 * 1024, " "))) written++
          if (!isClosed) response.once("drain", more)
        }
        more()
      })
      assert.match(yield* problem(), /larger than 5120 bytes/)
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => isClosed })
      assert.isBelow(written, 1_000)
    }).pipe(withDocuments())
  )

  it.live("is fetched for one organization beside another one that has all the slots that it may have", () =>
    Effect.gen(function* () {
      const as = (name: string) => Effect.provideService(Tenant, { name })
      const waiting: Array<ServerResponse> = []
      answering((response) => waiting.push(response))
      const flood = yield* Effect.forEach(Array(40).keys(), () => Effect.fork(as("bulk")(Effect.exit(find()))))
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => waiting.length === 4 })
      json(documentOf())
      assert.deepInclude(yield* as("other")(find()), { id, name: "Agent" })
      assert.lengthOf(waiting, 4)
      for (const response of waiting) response.destroy()
      yield* Effect.forEach(flood, Fiber.interrupt, { concurrency: "unbounded" })
    }).pipe(withDocuments())
  )

  it.live("must be whole within 5 seconds, however it drips", () =>
    Effect.gen(function* () {
      let isClosed = false
      answering((response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.on("close", () => (isClosed = true))
        const drip = setInterval(() => (isClosed ? clearInterval(drip) : response.write(" ")), 200)
      })
      const start = performance.now()
      assert.match(yield* problem(), /no complete response in time/)
      const seconds = (performance.now() - start) / 1_000
      assert.isTrue(seconds > 4.9 && seconds < 15, `${seconds} s`)
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => isClosed })
    }).pipe(withDocuments())
  )

  it.live("is not looked for where a redirect leads", () =>
    Effect.gen(function* () {
      for (const status of [301, 302, 303, 307, 308]) {
        const before = upstream.arrived.length
        answering((response) => response.writeHead(status, { location: `${id}?again` }).end(documentOf()))
        assert.match(yield* problem(), new RegExp(`its status is ${status}, and must be 200`))
        assert.strictEqual(upstream.arrived.length, before + 1)
      }
    }).pipe(withDocuments())
  )

  it.live("is not asked for at addresses that are not public, by name or by number", () =>
    Effect.gen(function* () {
      const before = upstream.arrived.length
      json(documentOf())
      for (const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.0"]) {
        const asked = problem().pipe(withDocuments({ address, networks: "" }))
        assert.match(yield* asked, /an address that is not public/, address)
      }
      for (const literal of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[fd00::1]"]) {
        const asked = problem(`https://${literal}:${upstream.port}/client.json`).pipe(withDocuments({ networks: "" }))
        assert.match(yield* asked, /an address that is not public/, literal)
      }
      assert.strictEqual(upstream.arrived.length, before)
    })
  )

  it.live.each([
    ["a text", "text/plain", "{}", /it is not JSON/],
    ["JSON that is cut off", "application/json", '{"client_id":', /does not describe a client/],
    [
      "the document of another program",
      "application/json",
      { client_id: "https://x.test/y" },
      /its client_id is another/
    ],
    ["a client with a secret", "application/json", { client_secret: "canary" }, /not a public client/],
    ["one that proves itself", "application/json", { token_endpoint_auth_method: "private_key_jwt" }, /not a public/]
  ] as const)("cannot be %s", ([, type, content, says]) =>
    Effect.gen(function* () {
      const text = typeof content === "string" ? content : documentOf(content)
      answering((response) => response.writeHead(200, { "content-type": type }).end(text))
      const message = yield* problem()
      assert.match(message, says)
      assert.notInclude(message, "canary")
    }).pipe(withDocuments())
  )
})
