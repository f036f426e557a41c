import { NotAuthenticated } from "@coffer/client/internal/Credentials"
import { LoopbackCode } from "@coffer/domain/directory/ClientLogin"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { timingSafeEqual } from "node:crypto"
import { createServer, type RequestListener, type Server } from "node:http"
import { CannotDo } from "../../base/Failures.js"

const path = "/callback"
const host = "127.0.0.1"

const page = (sentence: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coffer</title><p>${sentence}</p></html>\n`

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close"
}

const isSame = (text: string, other: string) => {
  const [bytes, others] = [Buffer.from(text), Buffer.from(other)]
  return bytes.length === others.length && timingSafeEqual(bytes, others)
}

/** The code of the browser's way back, or why there is none. */
export type Returned = Effect.Effect<Redacted.Redacted, NotAuthenticated>

const refused = new NotAuthenticated({ message: "this login was refused in the browser" })

/** Returns the result of a request to the listener. Undefined for any request other than that of this login. */
const returnedBy = (method: string | undefined, target: string | undefined, state: string): Returned | undefined => {
  const url = `http://${host}${target ?? ""}`
  if (method !== "GET" || !URL.canParse(url)) return undefined
  const { pathname, searchParams } = new URL(url)
  if (pathname !== path || !isSame(searchParams.get("state") ?? "", state)) return undefined
  const code = searchParams.get("code") ?? ""
  const decoded = Schema.decodeEither(LoopbackCode)(code)
  if (Either.isRight(decoded)) return Effect.succeed(decoded.right)
  return searchParams.has("error") ? refused : undefined
}

const listener =
  (state: string, done: (returned: Returned) => void): RequestListener =>
  ({ method, url }, response) => {
    const returned = returnedBy(method, url, state)
    if (returned === undefined) {
      response.writeHead(404, headers).end(page("This is not the login that coffer waits for."))
      return
    }
    // After the page is sent: the end of the program closes the connection.
    response.once("close", () => done(returned))
    response.writeHead(200, headers).end(page("You can close this window and go back to the terminal."))
  }

const listen = (server: Server): Effect.Effect<number, CannotDo> =>
  Effect.async((resume) => {
    const fail = () => resume(new CannotDo({ message: `no port of ${host} is free for the browser's way back` }))
    server.once("error", fail).listen(0, host, () => {
      const address = server.address()
      if (typeof address === "object" && address !== null) resume(Effect.succeed(address.port))
      else fail()
    })
  })

/**
 * Listens on a free port of the loopback interface for the browser that comes back with a code (RFC 8252, section 7.3), until
 * the scope ends. Requests without the login's `state` change nothing.
 */
export const listenForBrowser = (
  state: string
): Effect.Effect<{ readonly redirectUri: string; readonly returned: Returned }, CannotDo, Scope.Scope> =>
  Effect.gen(function* () {
    const deferred = yield* Deferred.make<Redacted.Redacted, NotAuthenticated>()
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createServer(
          { maxHeaderSize: 8 * 1024, requestTimeout: 10_000 },
          listener(state, (returned) => Deferred.unsafeDone(deferred, returned))
        )
      ),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    server.maxConnections = 20
    const port = yield* listen(server)
    return { redirectUri: `http://${host}:${port}${path}`, returned: Deferred.await(deferred) }
  })
