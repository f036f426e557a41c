import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { withoutOverlap } from "@coffer/server/http/Pipelining"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

/** The first request, and those that may wait behind it. */
const maxServed = 17

const state = { running: 0, atOnce: 0, served: new Array<string>() }

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  const path = request.url ?? ""
  state.served.push(path)
  state.running++
  state.atOnce = Math.max(state.atOnce, state.running)
  const answer = () => {
    state.running--
    response.end(path)
  }
  if (path.endsWith("slow")) setImmediate(answer)
  else answer()
}

const server = createServer(withoutOverlap(serve))
let port = 0

beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  port = typeof address === "object" ? (address?.port ?? 0) : 0
})
afterAll(() => {
  server.close().closeAllConnections()
})

/** Sends requests in pieces, and returns the bodies of the responses until the connection is closed or silent. */
const pipelined = async (paths: ReadonlyArray<string>, pieces: number) => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  let isClosed = false
  socket.on("data", (bytes) => (text += bytes.toString("latin1")))
  socket.on("close", () => (isClosed = true))
  socket.on("error", () => undefined)
  const sent = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("")
  const size = Math.ceil(sent.length / pieces)
  for (let at = 0; at < sent.length; at += size) socket.write(sent.slice(at, at + size))
  const bodies = () => [...text.matchAll(/\r\n\r\n(\/\d+(?:slow|fast))/g)].map(([, body]) => body ?? "")
  for (let waits = 0; waits < 400 && !isClosed && bodies().length < paths.length; waits++) await sleep(2)
  socket.destroy()
  return { bodies: bodies(), isClosed }
}

describe("pipelined requests of a connection", () => {
  it("are answered in order and one at a time; of more than may wait, the rest is dropped and the connection closed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("slow", "fast"), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (kinds, pieces) => {
          Object.assign(state, { running: 0, atOnce: 0, served: [] })
          const paths = kinds.map((kind, index) => `/${index}${kind}`)
          const { bodies, isClosed } = await pipelined(paths, pieces)
          assert.deepStrictEqual(bodies, paths.slice(0, bodies.length))
          assert.deepStrictEqual(state.served, bodies)
          assert.strictEqual(state.atOnce, 1)
          assert.isAtLeast(bodies.length, Math.min(paths.length, maxServed))
          assert.isTrue(isClosed || bodies.length === paths.length)
        }
      ),
      { numRuns: runs(60) }
    )
  })

  it("let others in between: a connection with many is served a request a tick", async () => {
    let ticks = 0
    const count = (): void => {
      ticks++
      if (ticks < 1_000) setImmediate(count)
    }
    setImmediate(count)
    await pipelined(
      Array.from({ length: 16 }, (_, index) => `/${index}fast`),
      1
    )
    assert.isAtLeast(ticks, 15)
  })
})
