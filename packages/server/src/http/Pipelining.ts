import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { onNextTick } from "../base/EventLoop.js"

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** How many pipelined requests of a connection may wait. Clients that do not pipeline have none. */
const maxWaiting = 16

/** The waiting requests of one connection. */
interface Pipeline {
  readonly waiting: Array<readonly [IncomingMessage, ServerResponse]>
  /** Once full, later requests are dropped, and the connection is closed after the last waiting one. */
  full: boolean
}

/**
 * Serves the requests of a connection one at a time. The next request starts once the previous response was sent, in a tick of
 * its own, and the socket is paused meanwhile. Otherwise a client that pipelines requests could fill the memory with responses
 * that it does not read, and many such clients would block the event loop.
 */
export const withoutOverlap = (serve: Listener): Listener => {
  const pipelines = new WeakMap<Socket, Pipeline>()

  const begin = (pipeline: Pipeline, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    response.once("close", () => {
      if (pipeline.waiting.length > 0 && !socket.destroyed) {
        onNextTick(socket.remoteAddress ?? "", () => {
          proceed(pipeline, socket)
        })
        return
      }
      end(socket)
    })
    serve(request, response)
  }

  const proceed = (pipeline: Pipeline, socket: Socket): void => {
    const next = pipeline.waiting.shift()
    if (next !== undefined && !socket.destroyed) begin(pipeline, ...next)
    else end(socket)
  }

  const end = (socket: Socket): void => {
    pipelines.delete(socket)
    if (socket.isPaused()) socket.resume()
  }

  return (request, response) => {
    const { socket } = request
    const pipeline = pipelines.get(socket)
    if (pipeline === undefined) {
      const started: Pipeline = { waiting: [], full: false }
      pipelines.set(socket, started)
      begin(started, request, response)
      return
    }
    socket.pause()
    if (pipeline.full) return
    pipeline.waiting.push([request, response])
    if (pipeline.waiting.length < maxWaiting) return
    pipeline.full = true
    response.shouldKeepAlive = false
  }
}
