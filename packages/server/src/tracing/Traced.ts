import { Effect, type Fiber, FiberRef } from "effect"

/** A span of a step, as whoever traces sees it. */
interface SpanOptions {
  readonly kind?: "client" | "internal"
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** Runs a step in a span where its fiber is traced, and the step alone where nobody traces. */
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
 * Names a step of a feature in traces. Where nobody traces it is the step alone: `Effect.fn` makes a span and two errors for
 * its stack also then, which cost more than a statement.
 */
export const traced =
  (name: string) =>
  <Parameters extends ReadonlyArray<unknown>, A, E, R>(
    step: (...parameters: Parameters) => Effect.Effect<A, E, R>
  ): ((...parameters: Parameters) => Effect.Effect<A, E, R>) =>
  (...parameters) =>
    Effect.withFiberRuntime((fiber) => spanIn(fiber, name, {}, step(...parameters)))
