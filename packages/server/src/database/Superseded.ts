import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Cause from "effect/Cause"

/**
 * A defect of a read or a transaction of a process without which the database went on: it was paused or cut off, and did not see
 * that the key, the schema or the data were replaced. Nothing was changed.
 */
export class Superseded extends Data.TaggedError("Superseded") {
  override readonly message = "the database went on without this server: nothing was changed, and this server ends"
}

export const isSuperseded = (cause: Cause.Cause<unknown>): boolean =>
  Option.isSome(
    Cause.find(cause, (part) =>
      part._tag === "Die" && part.defect instanceof Superseded ? Option.some(part) : Option.none()
    )
  )

/** Why a process has to end. */
export interface Succession {
  /** One sentence for the operator: the event, and the remedy. */
  readonly message: string
  /** Whether a supervisor may start the process again by itself. */
  readonly mayRestart: boolean
}
