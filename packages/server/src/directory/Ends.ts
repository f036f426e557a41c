import { dayMillis } from "@coffer/domain/secrets/DueState"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { timestamp } from "../base/Time.js"

/** The problem with an end that is more than some days ahead; null if there is none. Times are in milliseconds since 1970. */
export const farEndProblem = (end: number, millis: number, days: number): string | null =>
  end > millis + days * dayMillis ? `expires_at: must be at most ${days.toLocaleString("en")} days ahead` : null

/** Fails with ValidationError for an end that has passed, or is more than some days ahead. */
export const checkFutureEnd = (end: number, millis: number, days: number): Effect.Effect<void, ValidationError> => {
  const message =
    end <= millis
      ? `expires_at: must be in the future; the server's time is ${timestamp(millis)}`
      : farEndProblem(end, millis, days)
  return message === null ? Effect.void : new ValidationError({ message })
}
