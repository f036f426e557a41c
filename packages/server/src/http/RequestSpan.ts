import { HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "@effect/platform"
import { Effect, Option } from "effect"
import { isProbe } from "./AccessLog.js"
import { routePatternOf } from "./Routes.js"

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** The attributes of a span are these and no others: no header, address, path or query of a request is among them. */
const attributesOf = (method: string, route: string | null) => ({
  "http.request.method": method,
  ...(route !== null && { "http.route": route })
})

/**
 * A span for a request, named by its route's pattern (OpenTelemetry's conventions for HTTP), below the one that the caller
 * names in `traceparent` (W3C Trace Context), unless that one is not recorded. It bears the request's id. Probes of health have
 * none.
 */
export const withRequestSpan = <E, R>(
  id: string,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const route = routePatternOf(request.method, request.url)
    const parent = Option.getOrUndefined(HttpTraceContext.w3c(request.headers))
    if ((route !== null && isProbe(route)) || parent?.sampled === false) {
      return Effect.withTracerEnabled(app, false)
    }
    const method = methods.has(request.method) ? request.method : "_OTHER"
    const name = `${method === "_OTHER" ? "HTTP" : method}${route === null ? "" : ` ${route}`}`
    return Effect.useSpan(
      name,
      {
        kind: "server",
        captureStackTrace: false,
        attributes: attributesOf(method, route),
        ...(parent === undefined ? { root: true } : { parent })
      },
      (span) =>
        Effect.tap(Effect.withParentSpan(app, span), ({ status }) => {
          span.attribute("http.response.status_code", status)
          span.attribute("coffer.request_id", id)
          if (status >= 500) span.attribute("error.type", String(status))
        })
    )
  })
