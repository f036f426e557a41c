/**
 * An empty endpoint on the toolkit's own HTTP server: an HttpApi with one endpoint and a schema, without tracing, log or
 * code of Coffer. It shows the cost of the toolkit over `node:http`.
 */
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpMiddleware, HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { createServer } from "node:http"

const Health = Schema.Struct({ status: Schema.Literal("ok") })
const api = HttpApi.make("empty").add(
  HttpApiGroup.make("system").add(HttpApiEndpoint.get("health", "/health").addSuccess(Health))
)
const handlers = HttpApiBuilder.group(api, "system", (group) =>
  group.handle("health", () => Effect.succeed({ status: "ok" }))
)
const announce = Layer.effectDiscard(
  HttpServer.addressWith(({ port }) =>
    Effect.sync(() => process.stdout.write(`listening on http://127.0.0.1:${port}\n`))
  )
)

HttpApiBuilder.serve().pipe(
  // The toolkit's HTTP tracer middleware reads the URL and the headers even if tracing is off.
  HttpMiddleware.withTracerDisabledWhen(() => true),
  Layer.merge(announce),
  Layer.provide(HttpApiBuilder.api(api).pipe(Layer.provide(handlers))),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Layer.setTracerEnabled(false)),
  Layer.launch,
  NodeRuntime.runMain
)
