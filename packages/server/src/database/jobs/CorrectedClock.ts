import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * The clock of this process, which can be corrected. Records and credentials have times of the process, and a server whose
 * clock is wrong would end another server's keys too early or too late.
 */
export class CorrectedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly #own = Clock.make()
  /** The milliseconds that are added. */
  correction = 0

  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos = this.#own.currentTimeNanos

  unsafeCurrentTimeMillis(): number {
    return this.#own.unsafeCurrentTimeMillis() + this.correction
  }

  unsafeCurrentTimeNanos(): bigint {
    return this.#own.unsafeCurrentTimeNanos()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#own.sleep(duration)
  }
}
