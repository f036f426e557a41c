import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { answers } from "../state/Approval.js"
import type { Failure } from "./Calls.js"

/** How an effect ended: with a value, a failure to show, or not at all. */
export type Outcome<A, E> = { readonly value: A } | { readonly failure: E | Defect } | null

/** A mistake of the console itself. */
export class Defect implements Failure {
  readonly _tag = "Defect"
  readonly message = "the console made a mistake; reload the page"
}

const outcomeOf = <A, E>(exit: Exit.Exit<A, E>): Outcome<A, E> => {
  if (Exit.isSuccess(exit)) return { value: exit.value }
  if (Cause.isInterruptedOnly(exit.cause)) return null
  return { failure: Option.getOrElse(Cause.failureOption(exit.cause), () => new Defect()) }
}

/** Runs an effect. Only this module and `Client.ts` do. The function that it returns interrupts the effect. */
export const start = <A, E>(effect: Effect.Effect<A, E>, done: (outcome: Outcome<A, E>) => void): (() => void) => {
  const fiber = Effect.runFork(Effect.locally(effect, answers, new Map()))
  fiber.addObserver((exit) => {
    done(outcomeOf(exit))
  })
  return () => {
    Effect.runFork(Fiber.interruptFork(fiber))
  }
}
