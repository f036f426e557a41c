import * as Effect from "effect/Effect"
import type { ClientBase } from "pg"
import { now } from "../../base/Time.js"
import { StartupError } from "../../base/StartupError.js"
import { command, found } from "../../database/copy/PostgresSides.js"
import { lockFence, moveFence, type Why } from "../../database/postgres/DatabaseFence.js"
import { connectWith, type Reached } from "../../database/postgres/Reach.js"
import { sessionName } from "../../database/postgres/SessionName.js"
import { requireStopped } from "./Replicas.js"

interface HolderRow {
  readonly session: number
  readonly program: string
  readonly seconds: number
}

/** The sessions but one that hold what a takeover locks, the server of each, and for how long its transaction is open. */
const holders = (own: number) => `
  SELECT DISTINCT a.pid AS session,
    coalesce('process ' || i.pid || ' on ' || i.host, nullif(a.application_name, ''), 'a program') AS program,
    CAST(coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0) AS BIGINT) AS seconds
  FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  LEFT JOIN instances i ON a.application_name = ${sessionName("i.id")}
  WHERE l.locktype = 'relation' AND l.granted AND l.pid NOT IN (${own}, pg_backend_pid()) AND a.datname = current_database()
    AND l.relation IN ('database_fence'::regclass, 'wrapped_keys'::regclass, 'secret_versions'::regclass)
  ORDER BY seconds DESC, session LIMIT 5`

const held = ({ program, seconds, session }: HolderRow): string =>
  `${program} has had a transaction open for ${seconds} s (session ${session})`

/** Says who uses a database, beside the session that could not lock it. It is read on a connection of its own. */
const inUse = (at: Reached, own: number, reason: string): Effect.Effect<StartupError> =>
  Effect.scoped(Effect.flatMap(connectWith(at.config), (client) => found<HolderRow>(client, holders(own)))).pipe(
    Effect.orElseSucceed((): ReadonlyArray<HolderRow> => []),
    Effect.map((rows) => {
      const [first] = rows
      return new StartupError({
        message:
          first === undefined
            ? `the database ${at.name} cannot be locked (${reason}): nothing was changed`
            : `the database ${at.name} is in use: ${rows.map(held).join("; ")}. Nothing was changed: end that program, or its session by SELECT pg_terminate_backend(${first.session}), then try again`
      })
    })
  )

/**
 * Takes a database over from its servers: waits for their open transactions, fails while one of them runs, and moves the fence
 * on, after which no server that was paused meanwhile writes. Servers wait from here until the transaction ends. Call it first
 * in the transaction that rewrites, fills or leaves the database. `tables` are locked for older servers, which know no fence.
 */
export const takeOver = (
  client: ClientBase,
  at: Reached,
  why: Why,
  tables: string
): Effect.Effect<void, StartupError> =>
  Effect.gen(function* () {
    let own = 0
    return yield* Effect.gen(function* () {
      const [session] = yield* found<{ readonly id: number }>(client, "SELECT pg_backend_pid() AS id")
      own = session?.id ?? 0
      yield* command(client, lockFence)
      yield* command(client, `LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`)
      yield* requireStopped(client, at.name)
      yield* command(client, moveFence(why, yield* now))
    }).pipe(Effect.catchTag("CopyFailed", ({ reason }) => Effect.flatMap(inUse(at, own, reason), Effect.fail)))
  })
