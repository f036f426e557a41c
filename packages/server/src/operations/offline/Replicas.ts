import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ClientBase } from "pg"
import { liveInstances } from "../../database/jobs/Heartbeat.js"
import { StartupError } from "../../base/StartupError.js"
import { Database, Snapshot, Transaction } from "../../database/Database.js"
import { databaseOn, explained } from "./OfflineDatabase.js"

/** Without the open transaction of the caller, which may be of another database. */
const onItsOwn = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.mapInputContext(effect, (context: Context.Context<never>) => Context.omit(Transaction, Snapshot)(context))

/** Fails while a server runs on a database, by the heartbeats in it. */
export const requireStopped = (client: ClientBase, name: string): Effect.Effect<void, StartupError> =>
  liveInstances.pipe(
    Effect.provideService(Database, databaseOn(client)),
    onItsOwn,
    explained({
      unchanged: (reason) => `the database ${name} cannot be read: ${reason}`,
      unknown: `the database ${name} was lost`
    }),
    Effect.flatMap((live) => {
      if (live.length === 0) return Effect.void
      const servers = live.map(({ host, pid }) => `process ${pid} on ${host}`).join(", ")
      return new StartupError({
        message: `a server runs on the database ${name} (${servers}): stop all servers, wait 30 seconds if one was killed, then try again`
      })
    })
  )
