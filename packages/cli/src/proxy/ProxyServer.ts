import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { answered, isOwn, isSame, notYours, send } from "./Answering.js"
import { forward, type ForwardOptions } from "./Forward.js"
import { refusal } from "./Passed.js"

export interface ProxyAddress {
  readonly port: number
  /** The credential of this run. */
  readonly secret: string
  readonly server: Server
}

/** `http` for hosts on this machine alone, as the server's guard of outbound requests has it. */
const reverseUrl = (path: string): string | undefined => {
  const [, host, rest = ""] = /^\/([a-z0-9.-]+(?::[0-9]{1,5})?)((?:[/?].*)?)$/i.exec(path) ?? []
  const text = `https://${host ?? ""}${rest.startsWith("/") ? rest : `/${rest}`}`
  return host !== undefined && URL.canParse(text) ? text : undefined
}

/**
 * Listens on loopback for this run alone: a path without its credential, or a `Host` that is not the proxy's own, as a web page
 * sends it that has rebound its name, is refused.
 */
export const listen = (options: ForwardOptions) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime()
    const secret = randomBytes(24).toString("base64url")
    const server = createServer({ requestTimeout: 0 })
    const forwarding = forward(options, secret, runtime)
    server.on("connect", forwarding.connect)
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { headers, socket, url = "" } = request
      if (isOwn(socket) && /^[a-z]+:/i.test(url)) return forwarding.request(request, response, url)
      const port = socket.localPort ?? 0
      const isHost = [`127.0.0.1:${port}`, `localhost:${port}`].includes(headers.host ?? "")
      const [, given = "", path = ""] = /^\/([^/]*)(.*)$/s.exec(url) ?? []
      if (!isOwn(socket) || !isHost || !isSame(given, secret)) return send(response, notYours)
      const target = reverseUrl(path)
      if (target === undefined) {
        return send(
          response,
          refusal(400, "VALIDATION_ERROR", "the path after the credential begins with a host, as in /api.openai.com/v1")
        )
      }
      const fiber = Runtime.runFork(runtime)(answered(options, request, response, target))
      response.once("close", () => {
        if (!response.writableEnded) fiber.unsafeInterruptAsFork(fiber.id())
      })
    })
    yield* Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    })
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { port, secret, server } satisfies ProxyAddress
  }).pipe((started) =>
    Effect.acquireRelease(started, ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
    )
  )
