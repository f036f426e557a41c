import type { SqlConnection } from "@effect/sql"
import { Context, Duration, Effect, Option, Pool, Scope } from "effect"
import { busyTimeoutMillis } from "./Busy.js"
import { Snapshot, Transaction } from "../Database.js"
import { clientOf, connectionOf } from "./Connection.js"

const settings = [
  `busy_timeout = ${busyTimeoutMillis}`,
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "temp_store = MEMORY"
]

/** How many snapshots are open at once; more wait for their turn. */
const maxSnapshots = 4

/** A connection that cannot write. It never waits for a transaction, and sees a change from the moment that it is committed. */
const readOnly = (path: string) =>
  Effect.gen(function* () {
    const connection = yield* Effect.flatMap(clientOf(path, { readonly: true }), connectionOf)
    for (const setting of settings) yield* Effect.orDie(connection.execute(`PRAGMA ${setting}`, [], undefined))
    return connection
  })

const run = (connection: SqlConnection.Connection, text: string) =>
  Effect.orDie(connection.execute(text, [], undefined))

/** The connection that answers statements of no transaction, and a few more for snapshots. */
export const readingOf = (path: string) =>
  Effect.gen(function* () {
    const reading = yield* readOnly(path)
    // The pool's own fiber inherits whether it can be interrupted, and the scope's end waits for it: finalizers open databases too.
    const pool = yield* Effect.interruptible(
      Pool.makeWithTTL({ acquire: readOnly(path), min: 0, max: maxSnapshots, timeToLive: Duration.infinity })
    )

    const within = <A, E, R>(connection: SqlConnection.Connection, effect: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        run(connection, "BEGIN"),
        () => Effect.provideService(effect, Snapshot, connection),
        () => run(connection, "ROLLBACK")
      ).pipe(Effect.tapDefect(() => pool.invalidate(connection)))

    /** Reads of one moment. A transaction that is open is one already. */
    const snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.contextWithEffect((context: Context.Context<never>) =>
        Option.isSome(
          Option.orElse(Context.getOption(context, Transaction), () => Context.getOption(context, Snapshot))
        )
          ? effect
          : Effect.scopedWith((scope) =>
              Effect.flatMap(Scope.extend(pool.get, scope), (connection) => within(connection, effect))
            )
      )

    return { reading, snapshot } as const
  })
