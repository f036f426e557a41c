import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import type * as Utils from "effect/Utils"

interface SpanOptions {
  readonly kind?: "client" | "internal"
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** Runs a step in a span if tracing is enabled for the fiber. */
export const spanIn = <A, E, R>(
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  name: string,
  options: SpanOptions,
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  fiber.getFiberRef(FiberRef.currentTracerEnabled)
    ? Effect.withSpan(step, name, { captureStackTrace: false, ...options })
    : step

/**
 * Wraps a function in a span. Unlike `Effect.fn`, it costs nothing if tracing is off: that creates a span and two errors for the
 * stack even then, which takes longer than a statement.
 */
export const traced =
  (name: string) =>
  <Parameters extends ReadonlyArray<unknown>, A, E, R>(
    step: (...parameters: Parameters) => Effect.Effect<A, E, R>
  ): ((...parameters: Parameters) => Effect.Effect<A, E, R>) =>
  (...parameters) =>
    Effect.withFiberRuntime((fiber) => spanIn(fiber, name, {}, step(...parameters)))

/** `Effect.fnUntraced` of a service's method, in a span of its name. */
export const method = <
  Parameters extends Array<unknown>,
  Step extends Utils.YieldWrap<Effect.Effect<unknown, unknown, unknown>>,
  A
>(
  name: string,
  body: (...parameters: Parameters) => Generator<Step, A, never>
) => traced(name)(Effect.fnUntraced(body))
