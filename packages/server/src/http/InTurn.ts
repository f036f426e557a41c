import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** How many requests may wait behind the one that is answered. Clients that do not pipeline have none. */
const maxWaiting = 16

/** The requests of one connection that wait for their turn. */
interface Line {
  readonly waiting: Array<readonly [IncomingMessage, ServerResponse]>
  /** Whether more came than may wait: what follows is dropped, and the connection ends after the last that waits. */
  full: boolean
}

/**
 * Serves one request of each connection at a time. The next one begins when the answer before it has left this process, and
 * meanwhile nothing more is read: a client that sends requests and reads no answer would else make the server compute and
 * hold an answer for each.
 */
export const inTurn = (serve: Listener): Listener => {
  const lines = new WeakMap<Socket, Line>()

  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    response.once("close", () => {
      const next = line.waiting.shift()
      if (next !== undefined && !socket.destroyed) {
        begin(line, ...next)
        return
      }
      lines.delete(socket)
      if (socket.isPaused()) socket.resume()
    })
    serve(request, response)
  }

  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    if (line === undefined) {
      const started: Line = { waiting: [], full: false }
      lines.set(socket, started)
      begin(started, request, response)
      return
    }
    socket.pause()
    if (line.full) return
    line.waiting.push([request, response])
    if (line.waiting.length < maxWaiting) return
    line.full = true
    response.shouldKeepAlive = false
  }
}
