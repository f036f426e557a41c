import { once } from "node:events"
import type { Server } from "node:http"
import type { Admission } from "@coffer/domain/api/Requirement"
import { AccessLog } from "@coffer/server/base/logging/AccessLog"
import { BoundaryLive } from "@coffer/server/http/Boundary"
import { httpServerOn } from "@coffer/server/http/NodeHttpServer"
import { makeServer, type Timeouts } from "@coffer/server/http/NodeServer"
import { RequestObserver } from "@coffer/server/http/RequestObserver"
import { type HttpApi, HttpApiBuilder, HttpServer } from "@effect/platform"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { freshPath, servicesAt } from "./Services.js"

/** Serves a small contract on a socket of its own, as the server does the whole one. */
export const servingContract = (
  contract: Layer.Layer<HttpApi.Api, never, Admission>,
  admission: Layer.Layer<Admission, never, Layer.Layer.Success<ReturnType<typeof servicesAt>>>,
  timeouts?: Timeouts,
  log: () => void = () => undefined
) =>
  Effect.gen(function* () {
    const server: Server = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const made = makeServer(timeouts).listen(0, "127.0.0.1")
        await once(made, "listening")
        return made
      }),
      (made) => Effect.sync(() => made.close().closeAllConnections())
    )
    const address = server.address()
    const port = typeof address === "object" ? (address?.port ?? 0) : assert.fail("it does not listen")
    yield* Layer.build(
      HttpApiBuilder.serve().pipe(
        Layer.provide(HttpServer.layerContext),
        Layer.provide(
          Layer.succeed(
            HttpServer.HttpServer,
            httpServerOn(server, { _tag: "TcpAddress", hostname: "127.0.0.1", port })
          )
        ),
        Layer.provide(BoundaryLive),
        Layer.provide(contract),
        Layer.provide(admission),
        Layer.provide(Layer.succeed(RequestObserver, null)),
        Layer.provide(Layer.succeed(AccessLog, log)),
        Layer.provide(servicesAt(yield* freshPath))
      )
    )
    return { port, server }
  })
