import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../Config.js"

/** Enables tracing if a receiver is configured. Otherwise no span is made: spans cost a third of the throughput. */
export const TracingLive = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { tracing } = yield* ServerConfig
    if (tracing === null) return Layer.setTracerEnabled(false)
    const { otlpTracing } = yield* Effect.promise(() => import("./Otlp.js"))
    return otlpTracing(tracing)
  })
)
