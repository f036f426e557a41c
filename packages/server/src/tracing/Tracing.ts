import { Effect, Layer } from "effect"
import { ServerConfig } from "../Config.js"

/** Traces where a receiver is configured. Elsewhere nothing is loaded and no span is made: they cost a third of the speed. */
export const TracingLive = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { tracing } = yield* ServerConfig
    if (tracing === null) return Layer.setTracerEnabled(false)
    const { otlpTracing } = yield* Effect.promise(() => import("./Otlp.js"))
    return otlpTracing(tracing)
  })
)
