import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { configAt } from "../support/Services.js"
import { NetworkAccess, Outbound, type OutboundRequest, type Resolved } from "@coffer/server/base/outbound/Outbound"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll } from "vitest"
import { certificateFor, host, Issuer } from "../federations/Issuer.js"

const certificate = certificateFor(host, "127.0.0.1")
const other = certificateFor("other.test")

let server: Issuer
let stranger: Issuer

beforeAll(async () => {
  server = await Issuer.start(certificate)
  stranger = await Issuer.start(other)
  server.instead.set("/hello", (response) => response.end("hello"))
})

afterAll(async () => {
  await Promise.all([server.stop(), stranger.stop()])
})

interface World {
  readonly networks?: string
  readonly resolve?: (host: string) => Promise<ReadonlyArray<Resolved>>
}

const local: ReadonlyArray<Resolved> = [{ address: "127.0.0.1", family: 4 }]

const ask = (url: string, request: Partial<OutboundRequest> = {}, { networks, resolve }: World = {}) =>
  Effect.flatMap(Outbound, (outbound) =>
    outbound.request({ url, timeout: "5 seconds", maxBytes: 1_000, ...request })
  ).pipe(
    Effect.provide(
      Outbound.Default.pipe(
        Layer.provide(configAt("unused.db", { SERVICE_OUTBOUND_ALLOW_NETWORKS: networks ?? "127.0.0.0/8" })),
        Layer.provide(
          Layer.succeed(
            NetworkAccess,
            NetworkAccess.of({
              resolve: resolve ?? (() => Promise.resolve(local)),
              certificates: certificate.cert + other.cert
            })
          )
        )
      )
    )
  )

const reason = (...parameters: Parameters<typeof ask>) =>
  Effect.map(Effect.flip(ask(...parameters)), (error) => ("reason" in error ? error.reason : error._tag))

const portOf = (issuer: Issuer): string => new URL(issuer.url).port

describe("a request of the server", () => {
  it.live("goes to the vetted address: no resolver but the guard's knows the name", () =>
    Effect.gen(function* () {
      const answer = yield* ask(`${server.url}/hello`)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(Buffer.from(answer.body).toString(), "hello")
      assert.isFalse(answer.truncated)
    })
  )

  it.live("resolves the name once, so that a second answer of the resolver is not used", () =>
    Effect.gen(function* () {
      let asked = 0
      const rebinding = () => Promise.resolve(asked++ === 0 ? local : [{ address: "169.254.169.254", family: 4 }])
      assert.strictEqual((yield* ask(`${server.url}/hello`, {}, { resolve: rebinding })).status, 200)
      assert.strictEqual(asked, 1)
    })
  )

  it.live("is refused if one of the addresses is not public", () =>
    Effect.gen(function* () {
      const before = server.asked.length
      const both = () => Promise.resolve([{ address: "1.1.1.1", family: 4 }, ...local])
      assert.strictEqual(yield* reason(`${server.url}/hello`, {}, { resolve: both, networks: "" }), "address refused")
      assert.strictEqual(yield* reason(`${server.url}/hello`, {}, { networks: "" }), "address refused")
      assert.strictEqual(yield* reason(`${server.url}/hello`, {}, { networks: "10.0.0.0/8" }), "address refused")
      const nowhere = () => Promise.resolve([])
      assert.strictEqual(yield* reason(`${server.url}/hello`, {}, { resolve: nowhere }), "no address")
      const unknown = () => Promise.reject(new Error("ENOTFOUND"))
      assert.strictEqual(yield* reason(`${server.url}/hello`, {}, { resolve: unknown }), "no address")
      assert.strictEqual(server.asked.length, before)
    })
  )

  it.live("judges addresses that stand in the URL, which no resolver sees", () =>
    Effect.gen(function* () {
      const port = portOf(server)
      for (const literal of ["127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:7f00:1]", "[fe80::1]", "10.0.0.1"]) {
        assert.strictEqual(
          yield* reason(`https://${literal}:${port}/hello`, {}, { networks: "" }),
          "address refused",
          literal
        )
      }
      assert.strictEqual((yield* ask(`https://127.0.0.1:${port}/hello`)).status, 200)
    })
  )

  it.live("takes no other spelling of a host, no credentials and no fragment", () =>
    Effect.gen(function* () {
      const port = portOf(server)
      for (const url of [
        `https://0x7f.1:${port}/`,
        `https://2130706433:${port}/`,
        `https://127.1:${port}/`,
        `https://a@${host}:${port}/`,
        `https://a:b@${host}:${port}/`,
        `https://${host}.:${port}/`,
        `https://bücher.test:${port}/`,
        `https://${host}:${port}/#x`,
        `https://${host}:${port}\\@evil.test/`,
        `https://${host}:${port}/a b`,
        `https://${host}:${port}/\n`,
        `ftp://${host}/`,
        "file:///etc/passwd",
        "//x/",
        `https://[::ffff:127.0.0.1]:${port}/`,
        "nonsense",
        ""
      ]) {
        assert.strictEqual(yield* reason(url), "url", url)
      }
    })
  )

  it.live("verifies the certificate for the name, whatever the environment says", () =>
    Effect.gen(function* () {
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
      assert.strictEqual(yield* reason(`https://${host}:${portOf(stranger)}/`), "certificate")
      assert.strictEqual(
        yield* reason(`https://${host}:${portOf(stranger)}/`, { headers: { Host: "other.test" } }),
        "certificate"
      )
      assert.strictEqual((yield* ask(`https://other.test:${portOf(stranger)}/jwks`)).status, 200)
    }).pipe(Effect.ensuring(Effect.sync(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"])))
  )

  it.live("is sent unencrypted only to a listed loopback address", () =>
    Effect.gen(function* () {
      const plain = createServer((_request, response) => response.end("plain"))
      yield* Effect.promise(() => new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve)))
      const { port } = plain.address() as AddressInfo
      assert.strictEqual((yield* ask(`http://127.0.0.1:${port}/`)).status, 200)
      assert.strictEqual(yield* reason(`http://127.0.0.1:${port}/`, {}, { networks: "" }), "address refused")
      const listed = { networks: "10.0.0.0/8", resolve: () => Promise.resolve([{ address: "10.0.0.1", family: 4 }]) }
      assert.strictEqual(yield* reason("http://inside.test/", {}, listed), "scheme")
      const open = { resolve: () => Promise.resolve([{ address: "1.1.1.1", family: 4 }]) }
      assert.strictEqual(yield* reason("http://outside.test/", {}, open), "scheme")
      plain.close()
    })
  )

  it.live("follows no redirect", () =>
    Effect.gen(function* () {
      server.instead.set("/away", (response) => response.writeHead(302, { location: `${server.url}/hello` }).end())
      const before = server.asked.length
      const answer = yield* ask(`${server.url}/away`)
      assert.strictEqual(answer.status, 302)
      assert.deepStrictEqual(server.asked.slice(before), ["/away"])
    })
  )

  it.live("reads no more than it may of an answer, and ends one that never ends", () =>
    Effect.gen(function* () {
      let closed = false
      server.instead.set("/endless", (response) => {
        const timer = setInterval(() => response.write("x".repeat(400)), 1)
        response.on("close", () => {
          clearInterval(timer)
          closed = true
        })
      })
      const answer = yield* ask(`${server.url}/endless`)
      assert.isTrue(answer.truncated)
      assert.strictEqual(answer.body.length, 1_000)
      while (!closed) yield* Effect.sleep("10 millis")
      server.instead.set("/exact", (response) => response.end("x".repeat(1_000)))
      assert.isFalse((yield* ask(`${server.url}/exact`)).truncated)
    })
  )

  it.live("has a time limit, from the resolution to the last byte", () =>
    Effect.gen(function* () {
      server.instead.set("/silent", () => undefined)
      server.instead.set("/slow", (response) => void response.write("x"))
      const brief = { timeout: "300 millis" } as const
      assert.strictEqual(yield* reason(`${server.url}/silent`, brief), "timeout")
      assert.strictEqual(yield* reason(`${server.url}/slow`, brief), "timeout")
      const never = { resolve: () => new Promise<ReadonlyArray<Resolved>>(() => undefined) }
      assert.strictEqual(yield* reason(`${server.url}/hello`, brief, never), "timeout")
    })
  )

  it.live("that fails says nothing that the other side said", () =>
    Effect.gen(function* () {
      server.instead.set("/torn", (response) => {
        response.writeHead(200, { "content-length": "100" }).write("canary")
        setTimeout(() => response.destroy(), 10)
      })
      const error = yield* Effect.flip(ask(`${server.url}/torn`))
      assert.notInclude(JSON.stringify(error) + error.message, "canary")
      assert.strictEqual("reason" in error ? error.reason : "", "connection")
    })
  )
})
