import { once } from "node:events"
import type { Server } from "node:http"
import { connect } from "node:net"
import { makeServer } from "@coffer/server/http/NodeServer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly token: string | ReadonlyArray<string> | undefined
}

const seen: Array<Seen> = []
let server: Server
let port = 0

beforeAll(async () => {
  server = makeServer().on("request", ({ headers, method, url }, response) => {
    seen.push({ method, url, token: headers["x-vault-token"] })
    response.end("served")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  port = typeof address === "object" ? (address?.port ?? 0) : 0
})
afterAll(() => {
  server.close().closeAllConnections()
})

/** Sends bytes in one packet, and returns what comes back until the server closes the connection. */
const exchange = async (bytes: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.on("data", (data) => (text += data.toString("latin1")))
  socket.on("error", () => undefined)
  socket.write(Buffer.from(bytes, "latin1"))
  await once(socket, "close")
  return text
}

const path = fc.stringMatching(/^[A-Za-z0-9._~%/-]{1,40}$/)
const query = fc.stringMatching(/^[A-Za-z0-9=&._~%-]{0,40}$/)
const token = fc.stringMatching(/^[A-Za-z0-9._-]{1,60}$/)

describe("the method LIST", () => {
  it("is served as GET with list=true, once, with its path, query and headers as they were sent", async () => {
    await fc.assert(
      fc.asyncProperty(path, fc.option(query, { nil: undefined }), token, async (path, query, token) => {
        seen.length = 0
        const target = `/v1/${path}${query === undefined ? "" : `?${query}`}`
        const text = await exchange(`LIST ${target} HTTP/1.1\r\nHost: x\r\nX-Vault-Token: ${token}\r\n\r\n`)
        const others = query === undefined || query === "" ? "" : `${query}&`
        assert.deepStrictEqual(seen, [{ method: "GET", url: `/v1/${path}?${others}list=true`, token }])
        assert.match(text, /^HTTP\/1\.1 200 /)
        assert.isTrue(text.endsWith("served"))
      }),
      { numRuns: runs(100) }
    )
  })

  it("is refused with anything behind it, such as a body or a second request", async () => {
    const rest = fc.constantFrom(
      "x",
      "\r\n",
      "GET /v1/other HTTP/1.1\r\nHost: x\r\n\r\n",
      "LIST /v1/a HTTP/1.1\r\n\r\n"
    )
    await fc.assert(
      fc.asyncProperty(path, rest, async (path, rest) => {
        seen.length = 0
        const text = await exchange(`LIST /v1/${path} HTTP/1.1\r\nHost: x\r\n\r\n${rest}`)
        assert.match(text, /^HTTP\/1\.1 400 /)
        assert.deepStrictEqual(seen, [])
      }),
      { numRuns: runs(40) }
    )
  })

  it("is refused outside of the view of Vault's API, as other unknown methods are there", async () => {
    const method = fc.constantFrom("LIST", "LISTEN", "LISP", "LI", "SCAN")
    const target = fc.constantFrom("/", "/api/orgs", "/v2/secret", "v1/secret", "/v1 ", "/v1/a b")
    await fc.assert(
      fc.asyncProperty(method, target, async (method, target) => {
        seen.length = 0
        const text = await exchange(`${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
        assert.match(text, /^HTTP\/1\.1 400 /)
        assert.deepStrictEqual(seen, [])
      }),
      { numRuns: runs(40) }
    )
  })
})
