import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import pg, { type ClientBase, type ClientConfig, type PoolClient, type QueryResult } from "pg"
import type { PoolState } from "../Database.js"
import { lostConnections } from "../DatabaseMetrics.js"
import { DatabaseBusy, DatabaseUnavailable } from "../Unavailable.js"
import type { Restore } from "../Restore.js"
import { after, connectionOf, send, type Statements } from "./Connection.js"
import { isLost } from "./PostgresError.js"

/** How long a request waits for a connection: a free one of the pool, or a new one. */
const connectMillis = 4_000

/** How long an unused connection stays open. */
const idleMillis = 60_000
/** Connections are renewed, so that those of a pool spread over the addresses of a database that has moved. */
const lifetimeSeconds = 30 * 60

export interface PoolSettings {
  readonly config: ClientConfig
  /** The size of the pool. */
  readonly connections: number
}

/** Returns a connection to the pool; closes it instead if its state is unknown. */
type Release = (isClean: boolean) => void

export interface Taken {
  readonly client: ClientBase
  readonly release: Release
  /** How long the caller waited for it. */
  readonly waitedMillis: number
  /** Whether the connection is known to be closed. */
  readonly isClosed: () => boolean
}

type OnTaken = (
  refusal: DatabaseBusy | DatabaseUnavailable | null,
  client: PoolClient | undefined,
  release: Release
) => void

const noteLost = (): void => {
  lostConnections.unsafeUpdate(1, [])
}

/** The pool of connections, closed with the scope. */
export const makePool = ({ config, connections }: PoolSettings, statements: Statements) =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new pg.Pool({
            ...config,
            // A transaction sends its writes without waiting for each answer.
            pipeline: true,
            max: connections,
            connectionTimeoutMillis: connectMillis,
            idleTimeoutMillis: idleMillis,
            maxLifetimeSeconds: lifetimeSeconds
          })
      ),
      (made) => Effect.promise(() => made.end())
    )
    // A connection that is lost while no statement runs emits `error`, which would end the process. Its next statement fails.
    pool.on("connect", (client) => client.on("error", () => closed.add(client)))
    pool.on("error", noteLost)

    const closed = new WeakSet<ClientBase>()

    /** When the database last answered, and when it first did not answer since then. */
    let lastAnswer = performance.now()
    let silentSince: number | null = null

    const answered = (): void => {
      lastAnswer = performance.now()
      silentSince = null
    }
    const unanswered = (): void => {
      silentSince ??= performance.now()
    }
    const silentMillis = (): number => (silentSince === null ? 0 : performance.now() - silentSince)

    /** All connections may be in use, by statements that are answered or by ones that are not. */
    const notTaken = (cause: unknown): DatabaseBusy | DatabaseUnavailable => {
      if (pool.totalCount === connections && performance.now() - lastAnswer < connectMillis) return new DatabaseBusy()
      unanswered()
      return new DatabaseUnavailable({ cause })
    }

    /** The connections that lead to a primary. One to a standby must not be read from: it may lag behind. */
    const primaries = new WeakSet<PoolClient>()

    /** Checks a new connection. */
    const verify = (client: PoolClient, done: (error: unknown) => void): void => {
      if (primaries.has(client)) return done(null)
      send(client, statements.once("SELECT pg_is_in_recovery() AS standby"), (error, result) => {
        if (error !== null) return done(error)
        if (result?.rows[0]?.["standby"] !== 0) return done(new Error("the database is a standby"))
        primaries.add(client)
        done(null)
      })
    }

    /** Takes a connection. Returns a function that gives it back at once when it is there, for a caller that has gone. */
    const take = (taken: OnTaken): (() => void) => {
      let isWanted = true
      pool.connect((error, client, release) => {
        const giveBack: Release = (isClean) => {
          if (isClean) answered()
          else {
            unanswered()
            noteLost()
          }
          release(isClean ? undefined : true)
        }
        if (client === undefined) {
          if (isWanted) taken(notTaken(error), undefined, giveBack)
          return
        }
        verify(client, (problem) => {
          if (problem !== null) {
            giveBack(false)
            if (isWanted) taken(new DatabaseUnavailable({ cause: problem }), undefined, giveBack)
          } else if (isWanted) taken(null, client, giveBack)
          else giveBack(true)
        })
      })
      return () => {
        isWanted = false
      }
    }

    /** Takes a connection. The caller must be uninterruptible and release it once; only the wait is restored. */
    const acquire = (restore: Restore) =>
      Effect.suspend(() => {
        let mine: Taken | null = null
        const start = performance.now()
        const taken = Effect.async<Taken>((resume) => {
          const leave = take((refusal, client, release) => {
            if (client === undefined) return resume(Effect.die(refusal))
            mine = { client, release, waitedMillis: performance.now() - start, isClosed: () => closed.has(client) }
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
        const start = performance.now()
        const leave = take((refusal, client, release) => {
          if (client === undefined) return resume(Effect.die(refusal))
          send(client, after(performance.now() - start, statement), (error, result) => {
            release(error === null || !isLost(error))
            if (result !== null) resume(Effect.succeed(result))
            else if (error !== null)
              resume(isLost(error) ? Effect.die(new DatabaseUnavailable({ cause: error })) : Effect.fail(error))
          })
        })
        return Effect.sync(leave)
      })
    )

    const state = (): PoolState => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount
    })

    return { acquire, reading, silentMillis, unanswered, state } as const
  })

export type Pool = Effect.Effect.Success<ReturnType<typeof makePool>>
