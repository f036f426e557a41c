import { FetchHttpClient, HttpClient, HttpClientError } from "@effect/platform"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { Clock, Effect, Either, Encoding, Layer, Option, Redacted } from "effect"
import type { Settings } from "../Config.js"
import { guarded } from "./Guarded.js"

const sendTime = "5 seconds"
/** Batches on their way at once; what a slow receiver does not take beyond them is dropped, not kept in memory. */
const batches = 4
const warnEveryMillis = 60_000

/** As OTEL_EXPORTER_OTLP_HEADERS has them: `name=value,name=value`, percent-encoded. */
const headersOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").map((pair) => {
      const at = pair.indexOf("=")
      const value = pair.slice(at + 1).trim()
      return [pair.slice(0, at).trim(), Either.getOrElse(Encoding.decodeUriComponent(value), () => value)]
    })
  )

/** Sends what there is within a time and a number, and warns once a minute while it cannot. */
const boundedClient = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const permits = yield* Effect.makeSemaphore(batches)
  let warned = -warnEveryMillis
  const warn = Effect.gen(function* () {
    const millis = yield* Clock.currentTimeMillis
    if (millis - warned < warnEveryMillis) return
    warned = millis
    yield* Effect.logWarning("traces cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT, and are dropped")
  })
  return HttpClient.transform(client, (send, request) => {
    const failure = (description: string) =>
      new HttpClientError.RequestError({ request, reason: "Transport", description })
    return send.pipe(
      // The answer is read to its end, so that the connection can be used again.
      Effect.tap((response) => Effect.ignore(response.arrayBuffer)),
      Effect.timeoutFail({ duration: sendTime, onTimeout: () => failure("no answer in time") }),
      permits.withPermitsIfAvailable(1),
      Effect.flatMap(
        Option.match({ onNone: () => Effect.fail(failure("too many batches wait")), onSome: Effect.succeed })
      ),
      Effect.tapError(() => warn),
      Effect.tap(({ status }) => (status >= 300 ? warn : Effect.void))
    )
  })
})

/** Traces by OTLP over HTTP, as JSON, to `{endpoint}/v1/traces`; what waits is sent at the end, for 3 seconds at most. */
export const otlpTracing = ({ endpoint, headers, serviceName }: NonNullable<Settings["tracing"]>): Layer.Layer<never> =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const tracer = yield* OtlpTracer.make({
        url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
        resource: { serviceName },
        ...(headers !== null && { headers: headersOf(Redacted.value(headers)) })
      }).pipe(Effect.provideServiceEffect(HttpClient.HttpClient, boundedClient))
      return Layer.setTracer(guarded(tracer))
    })
  ).pipe(Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson]))
