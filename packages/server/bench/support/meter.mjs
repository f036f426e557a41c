import { once } from "node:events"
import { connect, createServer } from "node:net"

/** Splits PostgreSQL's protocol into messages, and calls back with the type and the body of each. */
const messagesOf = (received, hasStartup) => {
  let rest = Buffer.alloc(0)
  // The first message of a client has no type.
  let typeBytes = hasStartup ? 0 : 1
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      if (rest.length < typeBytes + 4) return
      const length = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < length) return
      if (typeBytes === 1) received(String.fromCharCode(rest[0]), rest.subarray(5, length))
      typeBytes = 1
      rest = rest.subarray(length)
    }
  }
}

const idle = "I".charCodeAt(0)

/**
 * A proxy in front of PostgreSQL that counts statements and round trips. Statements that are sent before an earlier one's
 * answer came share its round trip.
 */
export const startMeter = async (port) => {
  const counts = { outside: { statements: 0, trips: 0 }, inside: { statements: 0, trips: 0, commits: 0 } }
  const sockets = new Set()
  const proxy = createServer((client) => {
    const target = connect(port, "127.0.0.1")
    let isInside = false
    let unanswered = 0
    const here = () => (isInside ? counts.inside : counts.outside)
    const fromClient = messagesOf((type, body) => {
      // Query and Parse have a text; Query and Sync are answered by ReadyForQuery.
      if ((type === "Q" || type === "P") && body.includes("BEGIN")) isInside = true
      if (type !== "Q" && type !== "S") return
      if (unanswered++ === 0) here().trips++
    }, true)
    const fromServer = messagesOf((type, body) => {
      if (type === "C") here().statements++
      if (type === "C" && body.includes("COMMIT")) counts.inside.commits++
      if (type !== "Z") return
      unanswered = Math.max(0, unanswered - 1)
      if (body[0] === idle) isInside = false
    }, false)
    for (const [socket, other, read] of [
      [client, target, fromClient],
      [target, client, fromServer]
    ]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on("data", (chunk) => {
        read(chunk)
        other.write(chunk)
      })
      socket.on("error", () => undefined)
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  return {
    /** The URL of a database behind the proxy. */
    behind: (url) => Object.assign(new URL(url), { port: String(proxy.address().port) }).href,
    counts: () => structuredClone(counts),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    }
  }
}
