import * as SqlError from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import pg, { type ClientBase, type ClientConfig, type PoolClient, type QueryResult } from "pg"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import type { Restore } from "../../base/RestoreMask.js"
import { tenantOf } from "../../base/Tenant.js"
import type { PoolState } from "../Database.js"
import { lostConnections } from "../DatabaseMetrics.js"
import { Superseded } from "../Superseded.js"
import { DatabaseBusy, DatabaseUnavailable } from "../Unavailable.js"
import { after, connectionOf, leastMillis, send, type Statements } from "./Connection.js"
import type { Patience } from "./Patience.js"
import { isLost, isMoved, isSlow } from "./PostgresError.js"

/** How long an unused connection stays open. */
const idleMillis = 60_000
/** Connections are renewed, so that those of a pool spread over the addresses of a database that has moved. */
const lifetimeSeconds = 30 * 60

export interface PoolSettings {
  readonly config: ClientConfig
  /** The size of the pool. */
  readonly connections: number
  readonly patience: () => Patience
  /** Called when a statement finds another fence: the database may have gone on without this process. */
  readonly onMoved: () => void
}

/** Returns a connection to the pool; closes it instead if its state is unknown. */
type Release = (isClean: boolean) => void

export interface Taken {
  readonly client: ClientBase
  readonly release: Release
  /** How much of the caller's time was spent before it had the connection. */
  readonly spentMillis: number
  /** Whether the connection is known to be closed. */
  readonly isClosed: () => boolean
}

type OnTaken = (
  refusal: DatabaseBusy | DatabaseUnavailable | null,
  client: PoolClient | undefined,
  release: Release
) => void

/**
 * How long a request has waited for connections before, so that all of its waits together take no longer than one may. A request
 * that has worked for longer than that, such as an import, has all of its patience for each wait, as has work without a request.
 */
const makeWait = ({ currentContext }: Fiber.RuntimeFiber<unknown, unknown>, answerMillis: number) => {
  const info = Context.get(currentContext, RequestInfo)
  const since = performance.now()
  const isShort = info.startedAt !== undefined && since - info.startedAt < answerMillis
  const before = isShort ? (info.waitedMillis ?? 0) : 0
  return {
    before,
    /** Ends the wait. Returns how long the request has waited in all. */
    end: (): number => {
      const all = before + performance.now() - since
      if (isShort) info.waitedMillis = all
      return all
    }
  } as const
}

const noteLost = (): void => {
  lostConnections.unsafeUpdate(1, [])
}

/** The pool of connections, closed with the scope. */
export const makePool = ({ config, connections, onMoved, patience }: PoolSettings, statements: Statements) =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new pg.Pool({
            ...config,
            // A transaction sends its writes without waiting for each answer.
            pipeline: true,
            max: connections,
            connectionTimeoutMillis: patience().connectMillis,
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
    const slots = makeFairSemaphore(sharedBounds.connections.sized(connections))
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
      if (isUsedUp && performance.now() - lastAnswer < patience().connectMillis) return new DatabaseBusy()
      unanswered()
      return new DatabaseUnavailable({ cause })
    }

    /** Returns the error of a failed statement: a failure of the database, or of the statement alone. */
    const refusalOf = (error: SqlError.SqlError): SqlError.SqlError | DatabaseUnavailable | Superseded => {
      if (isMoved(error)) {
        onMoved()
        return new Superseded()
      }
      return isLost(error) ? new DatabaseUnavailable({ cause: error, isSlow: isSlow(error) }) : error
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
      // The pool has no other way to change it.
      pool.options.connectionTimeoutMillis = patience().connectMillis
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
     * Takes a connection in the tenant's turn, within `millis` in all: for the turn, for a free connection and for a new one.
     * Returns what to call when the caller has gone: a connection that arrives later is given back at once.
     */
    const take = (tenant: string, millis: number, taken: OnTaken): (() => void) => {
      let isWaiting = false
      let timer: NodeJS.Timeout | undefined
      const asked: { stop: (() => void) | null } = { stop: null }
      const endWait = () => {
        if (isWaiting) waiting--
        isWaiting = false
      }
      const ended: OnTaken = (refusal, client, release) => {
        clearTimeout(timer)
        asked.stop = null
        taken(refusal, client, release)
      }
      const stopWaiting = slots.request(tenant, () => {
        endWait()
        asked.stop = connect(() => {
          slots.release(tenant)
        }, ended)
      })
      if (asked.stop === null) {
        waiting++
        isWaiting = true
        asked.stop = () => {
          endWait()
          stopWaiting()
        }
      }
      // A connection that is free is there in the next tick.
      if (isWaiting || pool.idleCount === 0) {
        timer = setTimeout(() => {
          const isUsedUp = isWaiting || pool.totalCount === connections
          asked.stop?.()
          asked.stop = null
          taken(notTaken(new Error("no connection was free in time"), isUsedUp), undefined, () => undefined)
        }, millis)
      }
      return () => {
        clearTimeout(timer)
        asked.stop?.()
      }
    }

    /** Takes a connection for a fiber, within what is left of its patience. */
    const takeFor = (
      fiber: Fiber.RuntimeFiber<unknown, unknown>,
      taken: (refusal: DatabaseBusy | DatabaseUnavailable | null, mine: Omit<Taken, "isClosed"> | null) => void
    ): (() => void) => {
      const { answerMillis, connectMillis } = patience()
      const wait = makeWait(fiber, answerMillis)
      const left = Math.max(leastMillis, connectMillis - wait.before)
      return take(tenantOf(fiber), left, (refusal, client, release) => {
        const spentMillis = wait.end()
        taken(refusal, client === undefined ? null : { client, release, spentMillis })
      })
    }

    /** Takes a connection. The caller must be uninterruptible and release it once; only the wait is restored. */
    const acquire = (restore: Restore) =>
      Effect.withFiberRuntime<Taken>((fiber) => {
        let mine: Taken | null = null
        let leave = (): void => undefined
        const taken = Effect.async<Taken>((resume) => {
          leave = takeFor(fiber, (refusal, found) => {
            if (found === null) return resume(Effect.die(refusal))
            mine = { ...found, isClosed: () => closed.has(found.client) }
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
          const leave = takeFor(fiber, (refusal, found) => {
            if (found === null) return resume(Effect.die(refusal))
            const { client, release, spentMillis } = found
            send(client, after(spentMillis, statement), (error, result) => {
              release(error === null || !isLost(error))
              if (result !== null) resume(Effect.succeed(result))
              else if (error !== null) {
                const refused = refusalOf(error)
                resume(refused instanceof SqlError.SqlError ? Effect.fail(refused) : Effect.die(refused))
              }
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
    const snapshots = makeFairSemaphore(sharedBounds.connectionSnapshots.sized(Math.ceil(connections / 2)))

    return { acquire, reading, refusalOf, snapshots, silentMillis, unanswered, state } as const
  })

export type Pool = Effect.Effect.Success<ReturnType<typeof makePool>>
