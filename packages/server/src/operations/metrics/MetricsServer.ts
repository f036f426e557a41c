import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { ServerConfig } from "../../base/Config.js"
import { cannotListen } from "../../http/NodeServer.js"
import { type Observe, RequestObserver } from "../../http/RequestObserver.js"

const host = "127.0.0.1"

/** The hook that takes the page of a worker, which serves none; null: the page is served. */
export class PageReader extends Context.Reference<PageReader>()("@coffer/server/PageReader", {
  defaultValue: (): ((page: Effect.Effect<string>) => Effect.Effect<void>) | null => null
}) {}

/** Combines the page of this process with those of the other processes of the server. */
export class OtherPages extends Context.Reference<OtherPages>()("@coffer/server/OtherPages", {
  defaultValue:
    () =>
    (own: string): Effect.Effect<string> =>
      Effect.succeed(own)
}) {}

const announce = HttpServer.addressWith((address) =>
  address._tag === "TcpAddress"
    ? Effect.logInfo(`metrics are at http://${address.hostname}:${address.port}/metrics`)
    : Effect.void
)

const serve = <E, R>(scrape: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, port: number) =>
  HttpServer.serve(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) =>
      method === "GET" && url.split("?", 1)[0] === "/metrics"
        ? Effect.withTracerEnabled(scrape, false)
        : HttpServerResponse.text("not found: only GET /metrics is served here\n", { status: 404 })
    )
  ).pipe(
    HttpMiddleware.withTracerDisabledWhen(() => true),
    Layer.merge(Layer.effectDiscard(announce)),
    Layer.provide(
      NodeHttpServer.layerServer(() => createServer(), { host, port }).pipe(Layer.mapError(cannotListen(host, port)))
    )
  )

const off = Layer.succeed(RequestObserver, null)

const on = (port: number) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      // Loaded on demand, because the library costs memory and startup time.
      const { makeInstruments } = yield* Effect.promise(() => import("./Instruments.js"))
      const { contentType, observe, scrape } = yield* makeInstruments
      const observing = Layer.succeed(RequestObserver, observe satisfies Observe)
      const reader = yield* PageReader
      if (reader !== null) {
        yield* reader(scrape)
        return observing
      }
      const together = yield* OtherPages
      const page = Effect.map(Effect.flatMap(scrape, together), (text) =>
        HttpServerResponse.text(text, { contentType })
      )
      return Layer.merge(serve(page, port), observing)
    })
  )

/** Serves the metrics on a separate port of the loopback address, if one is configured. */
export const MetricsLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ metricsPort }) => (metricsPort === null ? off : on(metricsPort)))
)
