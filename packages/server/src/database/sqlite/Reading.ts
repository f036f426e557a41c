import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pool from "effect/Pool"
import * as Scope from "effect/Scope"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { busyTimeoutMillis } from "./Busy.js"
import { isInside, Snapshot } from "../Database.js"
import { openConnection } from "./Connection.js"

const settings = [
  `busy_timeout = ${busyTimeoutMillis}`,
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "temp_store = MEMORY"
]

/** A read-only connection. Reads never wait for a transaction, and see only committed changes. */
const readOnly = (path: string) =>
  Effect.gen(function* () {
    const connection = yield* openConnection(path, { readonly: true })
    for (const setting of settings) yield* Effect.orDie(connection.execute(`PRAGMA ${setting}`, [], undefined))
    return connection
  })

const run = (connection: SqlConnection.Connection, text: string) =>
  Effect.orDie(connection.execute(text, [], undefined))

/** Opens the read-only connection, and a pool of connections for snapshots. */
export const readingOf = (path: string) =>
  Effect.gen(function* () {
    const reading = yield* readOnly(path)
    // The pool's fiber inherits interruptibility: without it, a database opened in a finalizer could never close.
    const pool = yield* Effect.interruptible(
      Pool.makeWithTTL({
        acquire: readOnly(path),
        min: 0,
        max: sharedBounds.snapshots.total,
        timeToLive: Duration.infinity
      })
    )

    const slots = makeFairSemaphore(sharedBounds.snapshots)

    const within = <A, E, R>(connection: SqlConnection.Connection, effect: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        run(connection, "BEGIN"),
        () => Effect.provideService(effect, Snapshot, connection),
        () => run(connection, "ROLLBACK")
      ).pipe(Effect.tapDefect(() => pool.invalidate(connection)))

    /** Implements `Database.snapshot`. An open transaction or snapshot is reused. */
    const snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.contextWithEffect((context: Context.Context<never>) =>
        isInside(context)
          ? effect
          : slots.inside(
              Effect.scopedWith((scope) =>
                Effect.flatMap(Scope.extend(pool.get, scope), (connection) => within(connection, effect))
              )
            )
      )

    return { reading, snapshot } as const
  })
