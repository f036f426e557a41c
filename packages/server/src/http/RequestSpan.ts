import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isProbe } from "../base/logging/AccessLog.js"
import type { NodeRequest } from "./NodeRequest.js"
import { routePatternOf } from "./Routes.js"

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Only these attributes: a header, address, path or query could hold secrets or names of tenants. */
const attributesOf = (method: string, route: string | null) => ({
  "http.request.method": method,
  ...(route !== null && { "http.route": route })
})

/**
 * Runs a request in a span named by the pattern of its route (OpenTelemetry's HTTP conventions). The parent is the span in
 * `traceparent` (W3C Trace Context). There is no span for health probes, nor if the parent is not sampled.
 */
export const withRequestSpan = <E, R>(
  { headers, info, sentMethod, url }: NodeRequest,
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const route = routePatternOf(sentMethod, url)
  const parent = Option.getOrUndefined(HttpTraceContext.w3c(headers))
  if ((route !== null && isProbe(route)) || parent?.sampled === false) {
    return Effect.withTracerEnabled(app, false)
  }
  const method = methods.has(sentMethod) ? sentMethod : "_OTHER"
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
        span.attribute("coffer.request_id", info.id)
        if (status >= 500) span.attribute("error.type", String(status))
      })
  )
}
