import { LimitExceeded } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"

/** The most records of a kind: a call checks it before it makes one more, and an archive for all that it has. */
export interface Limit {
  readonly max: number
  /** Fails with LimitExceeded unless there is room for one more. */
  readonly room: (records: { readonly count: number }) => Effect.Effect<void, LimitExceeded>
  /** The problem with so many records, which a record holds; null if there is none. */
  readonly problem: (count: number, holder?: string) => LimitExceeded | null
}

export const recordLimit = (max: number, messageOf: (max: number) => string): Limit => {
  const message = messageOf(max)
  return {
    max,
    room: ({ count }) => (count < max ? Effect.void : new LimitExceeded({ message })),
    problem: (count, holder) =>
      count <= max ? null : new LimitExceeded({ message: holder === undefined ? message : `${holder}: ${message}` })
  }
}
