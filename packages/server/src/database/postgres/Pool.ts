import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import pg, { type ClientBase, type ClientConfig, type PoolClient, type QueryResult } from "pg"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import type { Restore } from "../../base/Restore.js"
import { tenantOf } from "../../base/Tenant.js"
import type { PoolState } from "../Database.js"
import { lostConnections } from "../DatabaseMetrics.js"
import { DatabaseBusy, DatabaseUnavailable } from "../Unavailable.js"
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

/** How much of a number one tenant may have at once: the rest is kept for others. */
const partOf = (all: number): number => Math.max(1, all - Math.ceil(all / 5))

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

    /** The pool itself serves its waiters in the order of arrival, so only as many ask it as there are connections. */
    const slots = makeFairSemaphore({ permits: connections, each: partOf(connections) })
    let waiting = 0

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
    const notTaken = (cause: unknown, isUsedUp: boolean): DatabaseBusy | DatabaseUnavailable => {
      if (isUsedUp && performance.now() - lastAnswer < connectMillis) return new DatabaseBusy()
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

    /** Takes a connection for the holder of a slot. Returns what to call when the caller has gone. */
    const connect = (leaveSlot: () => void, taken: OnTaken): (() => void) => {
      let isWanted = true
      pool.connect((error, client, release) => {
        const giveBack: Release = (isClean) => {
          if (isClean) answered()
          else {
            unanswered()
            noteLost()
          }
          release(isClean ? undefined : true)
          leaveSlot()
        }
        if (client === undefined) {
          leaveSlot()
          if (isWanted) taken(notTaken(error, pool.totalCount === connections), undefined, giveBack)
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

    /**
     * Takes a connection in the tenant's turn. Returns what to call when the caller has gone: a connection that arrives later
     * is given back at once.
     */
    const take = (tenant: string, taken: OnTaken): (() => void) => {
      const asked: { timer?: NodeJS.Timeout; stop: (() => void) | null } = { stop: null }
      const endWait = () => {
        if (asked.timer !== undefined) waiting--
        clearTimeout(asked.timer)
      }
      const stopWaiting = slots.request(tenant, () => {
        endWait()
        asked.stop = connect(() => {
          slots.release(tenant)
        }, taken)
      })
      if (asked.stop === null) {
        waiting++
        asked.stop = () => {
          endWait()
          stopWaiting()
        }
        asked.timer = setTimeout(() => {
          asked.stop?.()
          asked.stop = null
          taken(notTaken(new Error("no connection was free in time"), true), undefined, () => undefined)
        }, connectMillis)
      }
      return () => asked.stop?.()
    }

    /** Takes a connection. The caller must be uninterruptible and release it once; only the wait is restored. */
    const acquire = (restore: Restore) =>
      Effect.withFiberRuntime<Taken>((fiber) => {
        let mine: Taken | null = null
        let leave = (): void => undefined
        const start = performance.now()
        const taken = Effect.async<Taken>((resume) => {
          leave = take(tenantOf(fiber), (refusal, client, release) => {
            if (client === undefined) return resume(Effect.die(refusal))
            mine = { client, release, waitedMillis: performance.now() - start, isClosed: () => closed.has(client) }
            resume(Effect.succeed(mine))
          })
        })
        // Not the canceller of `async`, which is lost if the fiber is interrupted before its next step.
        return Effect.onInterrupt(restore(taken), () =>
          Effect.sync(() => {
            if (mine === null) leave()
            else mine.release(true)
          })
        )
      })

    /**
     * Runs statements outside of transactions, each on any connection. If the fiber is interrupted, the statement runs to
     * its end, and the connection is given back only then.
     */
    const reading = connectionOf(statements, (statement) =>
      Effect.withFiberRuntime<QueryResult<Record<string, unknown>>, SqlError.SqlError>((fiber) =>
        Effect.async((resume) => {
          const start = performance.now()
          const leave = take(tenantOf(fiber), (refusal, client, release) => {
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
    )

    const state = (): PoolState => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting
    })

    /** Snapshots use their connections for long, so the other half serves short statements. */
    const maxSnapshots = Math.ceil(connections / 2)
    const snapshots = makeFairSemaphore({ permits: maxSnapshots, each: partOf(maxSnapshots) })

    return { acquire, reading, snapshots, silentMillis, unanswered, state } as const
  })

export type Pool = Effect.Effect.Success<ReturnType<typeof makePool>>
