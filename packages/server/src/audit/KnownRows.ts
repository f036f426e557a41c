import * as Effect from "effect/Effect"
import { afterCommit, type Transaction } from "../database/Database.js"

/** How many rows are remembered: some 200 bytes each. */
const maxRows = 10_000

/**
 * Remembers rows that are inserted once and never change, so that they need no statement when they are met again. A row is
 * remembered after its commit, because a rollback removes it.
 */
export const knownRows = <Id>() => {
  const rows = new Map<string, Id>()
  return {
    find: (name: string): Id | undefined => rows.get(name),
    remember: (name: string, id: Id): Effect.Effect<void, never, Transaction> =>
      afterCommit(
        Effect.sync(() => {
          if (rows.size >= maxRows) rows.clear()
          rows.set(name, id)
        })
      )
  } as const
}
