import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import { StartupError } from "./StartupError.js"

/** The exit code of EX_CONFIG, after which systemd's unit is not started again. */
const notAgain = 78

/** Ends the process in order, from inside of its services. Fails the launch with a message for the operator. */
export class ProcessEnd extends Context.Reference<ProcessEnd>()("@coffer/server/ProcessEnd", {
  defaultValue: () => Deferred.unsafeMake<never, StartupError>(FiberId.none)
}) {}

/** Ends the process with a message. `mayRestart` says whether a supervisor may start it again by itself. */
export const endProcess = ({ mayRestart, message }: { readonly message: string; readonly mayRestart: boolean }) =>
  Effect.flatMap(ProcessEnd, (end) =>
    Effect.suspend(() => {
      if (!mayRestart) process.exitCode = notAgain
      return Deferred.fail(end, new StartupError({ message }))
    })
  )

/**
 * Runs a program until it ends, or until one of its services ends the process. The program has a fiber of its own, which has ended
 * before this does, also when it is interrupted: whatever is around it would else be released while it still runs.
 */
export const untilEnded = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Deferred.make<never, StartupError>(), (end) =>
    Effect.acquireUseRelease(
      Effect.fork(Effect.interruptible(Effect.provideService(program, ProcessEnd, end))),
      (running) => Effect.raceFirst(Fiber.join(running), Deferred.await(end)),
      Fiber.interrupt
    )
  )
