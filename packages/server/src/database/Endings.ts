import { type Context, Effect, type Exit } from "effect"
import type { SqlConnection } from "@effect/sql"
import { type Ending, type Open, Transaction } from "./Database.js"

/** Runs what was left to the end of a transaction, in its order. */
const settle = (endings: ReadonlyArray<Ending>, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.forEach(endings, (ending) => ending(exit), { discard: true })

/**
 * Runs a transaction with a place for what is left to its end. One inside another leaves it to the outer one's end, but goes
 * by how it ended itself when it was rolled back.
 */
export const withEndings = <A, E, R, F>(
  outer: Context.Tag.Service<Transaction> | undefined,
  connection: SqlConnection.Connection,
  change: Effect.Effect<A, E, R>,
  run: (change: Effect.Effect<A, E, Exclude<R, Transaction>>) => Effect.Effect<A, F, Exclude<R, Transaction>>
): Effect.Effect<A, F, Exclude<R, Transaction>> =>
  Effect.uninterruptibleMask((restore) => {
    const open: Open = { connection, endings: [] }
    const depth = outer === undefined ? 1 : outer[1] + 1
    return Effect.flatMap(
      Effect.exit(restore(run(Effect.provideService(change, Transaction, [open, depth])))),
      (exit): Effect.Effect<A, F> => {
        if (outer === undefined) return Effect.zipRight(settle(open.endings, exit), exit)
        for (const ending of open.endings) outer[0].endings.push(exit._tag === "Success" ? ending : () => ending(exit))
        return exit
      }
    )
  })
