import { makeClient } from "@coffer/client/internal/CofferClient"
import type { Credential } from "@coffer/client/internal/Credential"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { type CommandLineSettings, loadSettings } from "@coffer/client/internal/Settings"
import { Variables } from "@coffer/client/internal/Variables"
import { Effect, Option } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface TestServer {
  readonly url: string
  readonly requests: Array<{
    readonly method: string
    readonly url: string
    readonly headers: IncomingMessage["headers"]
  }>
}

/** A small server on loopback, which remembers what it was asked. */
export const listen = (handler: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<TestServer & { readonly close: () => void }>((resume) => {
      const requests: TestServer["requests"] = []
      const server = createServer((request, response) => {
        requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers })
        handler(request, response)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, requests, close }))
      })
    }),
    (server) => Effect.sync(() => server.close())
  )

export const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

/** A folder of its own for one test. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-client-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** With these environment variables and no others. */
export const withVariables = (variables: Record<string, string>) => Effect.provideService(Variables, variables)

/** The client for a server, with a credential or without one. */
export const clientFor = (url: string, credential: Option.Option<Credential> = Option.none()) =>
  Effect.gen(function* () {
    const settings = yield* loadSettings({ serverUrl: url }, "flag", "/")
    const server = yield* settings.server
    return yield* makeClient({ server, credential, program: "cli", version: "1.2.3" })
  }).pipe(withVariables({}))

/** The credential that goes to the server that the settings name. */
export const settleCredential = (given: CommandLineSettings, directory: string) =>
  Effect.gen(function* () {
    const settings = yield* loadSettings(given, "flag", directory)
    return yield* credentialFor(yield* settings.server)
  })
