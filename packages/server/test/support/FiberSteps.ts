import { Effect, RuntimeFlags, RuntimeFlagsPatch, Supervisor } from "effect"

class StepCounter extends Supervisor.AbstractSupervisor<void> {
  readonly value = Effect.void
  steps = 0

  override onEffect() {
    this.steps++
  }
}

/** How many steps the toolkit's interpreter takes for an effect: the same on every machine. */
export const fiberSteps = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const counter = new StepCounter()
    return effect.pipe(
      Effect.supervised(counter),
      Effect.withRuntimeFlagsPatch(RuntimeFlagsPatch.enable(RuntimeFlags.OpSupervision)),
      Effect.map(() => counter.steps)
    )
  })
