import { once } from "node:events"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { makeServer, serveHanded, type Timeouts } from "@coffer/server/http/NodeServer"
import { Effect, Exit, Scope } from "effect"
import { assert, describe, it } from "vitest"

const timeouts: Timeouts = { arrival: 300, silence: 30_000 }

/** A server that another one hands its connections to, in one process. */
const start = async () => {
  const server = makeServer(timeouts)
  const scope = Effect.runSync(Scope.make())
  const held: Array<() => void> = []
  server.on("request", (request, response) => {
    const answer = () => response.end(`you are ${request.socket.remoteAddress}`)
    if (request.url === "/held") held.push(answer)
    else answer()
  })
  const listener = createServer().listen(0, "127.0.0.1")
  await once(listener, "listening")
  await Effect.runPromise(
    Scope.extend(
      serveHanded(server, { onConnection: (use: (socket: Socket) => void) => listener.on("connection", use) }),
      scope
    )
  )
  const dial = () => {
    const socket = connect({ port: (listener.address() as AddressInfo).port, allowHalfOpen: true })
    let text = ""
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    const closed = once(socket, "end").then(() => {
      socket.end()
      return text
    })
    return { socket, closed, text: () => text }
  }
  const stop = () => {
    listener.close()
    return Effect.runPromise(Scope.close(scope, Exit.void))
  }
  return { dial, held, stop }
}

describe("a connection that another process accepted", () => {
  it("is served as one of the server's own, also if its client sends nothing more", async () => {
    const { dial, stop } = await start()
    const { closed, socket } = dial()
    socket.end("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert.match(await closed, /^HTTP\/1\.1 200 OK[^]*you are 127\.0\.0\.1/)
    await stop()
  })

  it("has the time limits of the server's own", async () => {
    const { dial, stop } = await start()
    const { closed, socket } = dial()
    socket.write("GET / HTTP/1.1\r\nHost:")
    assert.match(await closed, /^HTTP\/1\.1 408 /)
    await stop()
  })

  it("ends with the server, after the request in flight", async () => {
    const { dial, held, stop } = await start()
    const [open, idle] = [dial(), dial()]
    open.socket.write("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
    idle.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    while (held.length === 0 || idle.text() === "") await new Promise((resolve) => setTimeout(resolve, 5))
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    await idle.closed
    assert.isFalse(isStopped)
    held.forEach((answer) => {
      answer()
    })
    assert.match(await open.closed, /^HTTP\/1\.1 200 OK[^]*Connection: close/)
    await stopped
  })
})
