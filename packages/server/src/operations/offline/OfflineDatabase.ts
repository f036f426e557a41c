import * as Effect from "effect/Effect"
import type { ClientBase } from "pg"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { StartupError } from "../../base/StartupError.js"
import { Database } from "../../database/Database.js"
import { rootReason } from "../../base/Reason.js"
import { isSqlError } from "../../database/SqlErrors.js"
import { DatabaseUnavailable, OutcomeUnknown } from "../../database/Unavailable.js"
import { ask, connectionOf, statements } from "../../database/postgres/Connection.js"
import { ofCommand } from "../../database/postgres/Begin.js"
import { isLost } from "../../database/postgres/PostgresError.js"
import { dialectOn } from "../../database/postgres/Dialect.js"
import { makeTransactions } from "../../database/postgres/Transactions.js"

/** A command may read a large table in one statement. A connection that is silent for longer is lost. */
const limits = { answerMillis: 60 * 60 * 1000, commitMillis: 10 * 60 * 1000 }

/**
 * The database of an offline command, on one connection: the command runs one transaction or statement at a time. One that has
 * transactions is of `connectPipelined`.
 */
export const databaseOn = (client: ClientBase) => {
  const compiled = statements(false, () => limits)
  const reading = connectionOf(compiled, (statement) => ask(client, statement))
  return Database.of({
    // The command moves the fence on itself.
    ...dialectOn(reading, "TRUE"),
    ...makeTransactions(
      {
        acquire: () => Effect.succeed({ client, release: () => undefined, spentMillis: 0, isClosed: () => false }),
        refusalOf: (error) => (isLost(error) ? new DatabaseUnavailable({ cause: error }) : error),
        snapshots: makeFairSemaphore(sharedBounds.connectionSnapshots.sized(1))
      },
      compiled,
      ofCommand
    ),
    reading,
    pool: null,
    isAwaited: () => false,
    unready: Effect.succeed(null),
    superseded: Effect.never,
    maintain: Effect.void
  })
}

/** Converts the defects of a command's transaction into messages for the operator. */
export const explained =
  (messages: { readonly unchanged: (reason: string) => string; readonly unknown: string }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
    Effect.catchAllDefect(effect, (defect) =>
      defect instanceof OutcomeUnknown
        ? new StartupError({ message: messages.unknown })
        : defect instanceof DatabaseUnavailable || isSqlError(defect)
          ? new StartupError({ message: messages.unchanged(rootReason(defect)) })
          : Effect.die(defect)
    )
