import type * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as Effect from "effect/Effect"
import { createServer, type Server } from "node:net"
import { cannotListen, whenQuiet } from "../../http/NodeServer.js"
import type { HandOver } from "./HandOver.js"

/** How long the end waits until each connection that was accepted has its worker, in milliseconds. */
const lastMillis = 1_000
const lookMillis = 5

const whenDone = (handOver: HandOver, millis: number, done: () => void): void => {
  if (handOver.isDone() || millis <= 0) done()
  else setTimeout(() => whenDone(handOver, millis - lookMillis, done), lookMillis)
}

const listening = (server: Server, host: string, port: number) =>
  Effect.async<HttpServer.TcpAddress, HttpServerError.ServeError>((resume) => {
    server.once("error", (cause) => {
      resume(Effect.fail(new HttpServerError.ServeError({ cause })))
    })
    server.listen({ host, port }, () => {
      const bound = server.address()
      const hostname = typeof bound === "object" && bound !== null ? bound.address : host
      resume(
        Effect.succeed({
          _tag: "TcpAddress",
          hostname,
          port: typeof bound === "object" && bound !== null ? bound.port : port
        })
      )
    })
  }).pipe(Effect.mapError(cannotListen(host, port)))

/** Stops to accept connections, after those that the system has accepted already, and hands over all of them. */
const close = (server: Server, handOver: HandOver) =>
  Effect.async<void>((resume) => {
    whenQuiet(server, lastMillis, () => {
      // Its callback waits for the connections too, which are the workers'.
      server.close()
      whenDone(handOver, lastMillis, () => {
        handOver.closeWaiting()
        resume(Effect.void)
      })
    })
  })

/** Listens for the workers of a server until the scope is closed. Returns the address. */
export const listenFor = (handOver: HandOver, host: string, port: number) =>
  Effect.gen(function* () {
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, handOver.offer)
    const address = yield* listening(server, host, port)
    yield* Effect.addFinalizer(() => close(server, handOver))
    return address
  })
