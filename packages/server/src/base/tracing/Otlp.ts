import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../Config.js"
import { guarded } from "./Guarded.js"

const sendTime = "5 seconds"
/** How many batches are sent at the same time. More are dropped, so that a slow receiver does not fill the memory. */
const maxBatches = 4
const warnEveryMillis = 60_000

/** Parses OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`, percent-encoded. */
const headersOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").map((pair) => {
      const separator = pair.indexOf("=")
      const value = pair.slice(separator + 1).trim()
      return [pair.slice(0, separator).trim(), Either.getOrElse(Encoding.decodeUriComponent(value), () => value)]
    })
  )

/** Bounds the time and the number of requests. Warns at most once a minute about failures. */
const boundedClient = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const permits = yield* Effect.makeSemaphore(maxBatches)
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
      // Read the response to its end, so that the connection can be reused.
      Effect.tap((response) => Effect.ignore(response.arrayBuffer)),
      Effect.timeoutFail({ duration: sendTime, onTimeout: () => failure("no response in time") }),
      permits.withPermitsIfAvailable(1),
      Effect.flatMap(
        Option.match({ onNone: () => Effect.fail(failure("too many batches wait")), onSome: Effect.succeed })
      ),
      Effect.tapError(() => warn),
      Effect.tap(({ status }) => (status >= 300 ? warn : Effect.void))
    )
  })
})

/** Exports traces as OTLP/HTTP JSON to `{endpoint}/v1/traces`. The shutdown takes at most 3 seconds to send the rest. */
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
