import { once } from "node:events"
import { createServer } from "node:http"
import { Authentication } from "@coffer/domain/Actor"
import { Unauthorized } from "@coffer/domain/Errors"
import { Authenticator } from "@coffer/server/auth/Authenticator"
import { AccessLog } from "@coffer/server/http/AccessLog"
import { Calls, type Handle } from "@coffer/server/http/Calls"
import { NodeServer } from "@coffer/server/http/NodeServer"
import { RequestObserver } from "@coffer/server/http/RequestObserver"
import { ServeLive } from "@coffer/server/http/Serve"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServerResponse } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Either, Exit, Layer, Schema } from "effect"
import { logged } from "../support/Logged.js"
import { freshPath, servicesAt } from "../support/Services.js"

const sound = HttpApiEndpoint.get("sound", "/sound").addSuccess(Schema.String)
const odd = HttpApiEndpoint.get("odd", "/odd").addSuccess(Schema.String)
const contract = HttpApi.make("test").add(HttpApiGroup.make("calls").add(sound).add(odd))

/** The toolkit asks for handlers too, and does not serve them. */
const ContractLive = HttpApiBuilder.api(contract).pipe(
  Layer.provide(
    HttpApiBuilder.group(contract, "calls", (calls) =>
      calls.handle("sound", () => Effect.succeed("")).handle("odd", () => Effect.succeed(""))
    )
  )
)

const answered: readonly [HttpApiEndpoint.HttpApiEndpoint.Any, Handle] = [sound, () => Effect.succeed("sound")]

/** A socket of its own, on which nothing is served yet. */
const listening = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => server.close().closeAllConnections())
)

/** Serves a small contract with the handlers that are told; answers where. */
const serving = (handlers: Calls["handlers"]) =>
  Effect.gen(function* () {
    const server = yield* listening
    const refused = Either.left(new Unauthorized({ message: "nobody" }))
    yield* Layer.build(
      ServeLive.pipe(
        Layer.provide(Layer.succeed(Calls, Calls.make({ handlers }))),
        Layer.provide(ContractLive),
        Layer.provide(Layer.succeed(NodeServer, server)),
        Layer.provide(Layer.succeed(RequestObserver, null)),
        Layer.provide(Layer.succeed(AccessLog, () => undefined)),
        Layer.provide(Layer.succeed(Authenticator, Authenticator.make({ identify: () => refused }))),
        Layer.provide(
          Layer.succeed(Authentication, Authentication.of({ session: () => refused, apiKey: () => refused }))
        ),
        Layer.provide(NodeFileSystem.layer),
        Layer.provide(servicesAt(yield* freshPath))
      )
    )
    const address = server.address()
    return typeof address === "object" ? `http://127.0.0.1:${address?.port}` : assert.fail("it does not listen")
  })

describe("the server", () => {
  it.scopedLive("does not start while a handler is not told to it, and says which", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(serving(new Map([answered])))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(Cause.pretty(Exit.isFailure(exit) ? exit.cause : Cause.empty), "not told to the server: odd")
    })
  )

  it.scopedLive("ends the connection of an answer that cannot be sent, and serves the next", () =>
    Effect.gen(function* () {
      const log = logged()
      const url = yield* Effect.provide(
        serving(new Map([answered, [odd, () => Effect.succeed(HttpServerResponse.raw({ not: "text" }))]])),
        log.layer
      )
      const asked = (path: string) =>
        Effect.tryPromise(async () => (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(5_000) })).text())
      const { cause } = yield* Effect.flip(asked("/odd"))
      assert.notInclude(String(cause), "Timeout")
      assert.deepStrictEqual(
        log.lines.filter((line) => line.startsWith("ERROR")),
        ["ERROR an answer could not be sent"]
      )
      assert.strictEqual(yield* asked("/sound"), '"sound"')
    })
  )
})
