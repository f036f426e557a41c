import { Effect, FiberRef } from "effect"

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
    Effect.withFiberRuntime((fiber) =>
      fiber.getFiberRef(FiberRef.currentTracerEnabled)
        ? Effect.withSpan(step(...parameters), name, { captureStackTrace: false })
        : step(...parameters)
    )
