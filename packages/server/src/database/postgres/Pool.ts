import type { SqlError } from "@effect/sql"
import { Effect, Redacted } from "effect"
import pg, { type PoolClient, type QueryResult } from "pg"
import { DatabaseUnavailable } from "../Unavailable.js"
import type { Restore } from "../Restore.js"
import { ask, connectionOf, rowTypes, send, type Statements } from "./Connection.js"
import { isLost } from "./PostgresError.js"

/** How long a request waits for a connection: a free one of the pool, or a new one. */
const connectMillis = 4_000

export interface PoolSettings {
  readonly url: Redacted.Redacted
  /** The size of the pool. */
  readonly connections: number
}

/** Returns a connection to the pool; closes it instead if its state is unknown. */
type Release = (isClean: boolean) => void

export interface Taken {
  readonly client: PoolClient
  readonly release: Release
}

type OnTaken = (error: unknown, client: PoolClient | undefined, release: Release) => void

const ignore = (): void => undefined

/** The pool of connections, closed with the scope. */
export const makePool = ({ connections, url }: PoolSettings, statements: Statements) =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new pg.Pool({
            connectionString: Redacted.value(url),
            max: connections,
            connectionTimeoutMillis: connectMillis,
            keepAlive: true,
            types: rowTypes,
            application_name: "coffer-server"
          })
      ),
      (made) => Effect.promise(() => made.end())
    )
    // A connection that is lost while no statement runs emits `error`, which would end the process. Its next statement fails.
    pool.on("connect", (client) => client.on("error", ignore))
    pool.on("error", ignore)

    /** Takes a connection. Returns a function that gives it back at once when it is there, for a caller that has gone. */
    const take = (taken: OnTaken): (() => void) => {
      let isWanted = true
      pool.connect((error, client, release) => {
        const giveBack: Release = (isClean) => {
          release(isClean ? undefined : true)
        }
        if (isWanted) taken(error, client, giveBack)
        else if (client !== undefined) giveBack(true)
      })
      return () => {
        isWanted = false
      }
    }

    /** Takes a connection. The caller must be uninterruptible and release it once; only the wait is restored. */
    const acquire = (restore: Restore) =>
      Effect.suspend(() => {
        let mine: Taken | null = null
        const taken = Effect.async<Taken>((resume) => {
          const leave = take((error, client, release) => {
            if (client === undefined) return resume(Effect.die(new DatabaseUnavailable({ cause: error })))
            mine = { client, release }
            resume(Effect.succeed(mine))
          })
          return Effect.sync(leave)
        })
        // A fiber may be interrupted after it was given a connection and before it runs on.
        return Effect.onInterrupt(restore(taken), () => Effect.sync(() => mine?.release(true)))
      })

    /**
     * Runs statements outside of transactions, each on any connection. If the fiber is interrupted, the statement runs to
     * its end, and the connection is given back only then.
     */
    const reading = connectionOf(statements, (statement) =>
      Effect.async<QueryResult<Record<string, unknown>>, SqlError.SqlError>((resume) => {
        const leave = take((noClient, client, release) => {
          if (client === undefined) return resume(Effect.die(new DatabaseUnavailable({ cause: noClient })))
          send(client, statement, (error, result) => {
            release(error === null || !isLost(error))
            if (result !== null) resume(Effect.succeed(result))
            else if (error !== null)
              resume(isLost(error) ? Effect.die(new DatabaseUnavailable({ cause: error })) : Effect.fail(error))
          })
        })
        return Effect.sync(leave)
      })
    )

    /** Runs a statement that takes no parameters on a connection of the pool. */
    const command = (client: PoolClient, text: string) => ask(client, statements.once(text))

    return { acquire, reading, command } as const
  })

export type Pool = Effect.Effect.Success<ReturnType<typeof makePool>>
