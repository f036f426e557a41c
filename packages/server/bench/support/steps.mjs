/** Counts the steps and statements of fibers: what a request costs in the toolkit's interpreter, the same on every machine. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as RuntimeFlags from "effect/RuntimeFlags"
import * as RuntimeFlagsPatch from "effect/RuntimeFlagsPatch"
import * as Supervisor from "effect/Supervisor"

const none = () => ({ requests: 0, commits: 0 })

class Counter extends Supervisor.AbstractSupervisor {
  value = Effect.void
  /** The steps of requests, and of the group commits that they and the jobs make. */
  steps = none()
  statements = none()
  kinds = new WeakMap()
  isCounting = false

  onStart(context, _effect, parent, fiber) {
    if (!this.isCounting) return
    const isRequest = Option.isSome(Context.getOption(context, HttpServerRequest.HttpServerRequest))
    if (isRequest) this.kinds.set(fiber, "requests")
    // Jobs are older, or the children of older fibers.
    else if (Option.isNone(parent)) this.kinds.set(fiber, "commits")
  }
  onEffect(fiber) {
    const kind = this.kinds.get(fiber)
    if (this.isCounting && kind !== undefined) this.steps[kind]++
  }
  onStatement() {
    const fiber = Option.getOrUndefined(Fiber.getCurrentFiber())
    const kind = fiber && this.kinds.get(fiber)
    if (this.isCounting && kind !== undefined) this.statements[kind]++
  }
}

export const makeStepCounter = () => {
  const counter = new Counter()
  return {
    /** Runs an effect, such as a server, with fibers that can be counted. */
    counting: (effect) =>
      effect.pipe(
        Effect.supervised(counter),
        Effect.withRuntimeFlagsPatch(RuntimeFlagsPatch.enable(RuntimeFlags.OpSupervision))
      ),
    /** Counts the fibers that start from now on. */
    begin: () => {
      Object.assign(counter, { steps: none(), statements: none(), kinds: new WeakMap(), isCounting: true })
    },
    /** Counts a statement of the current fiber, unless that is a job's. */
    statement: () => {
      counter.onStatement()
    },
    /** Stops, and returns the number of their steps. */
    end: () => {
      counter.isCounting = false
      return counter.steps
    },
    /** The number of their statements. */
    statements: () => counter.statements
  }
}
