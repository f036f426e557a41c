import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Client, type ClientConfig } from "pg"
import { type DatabaseTarget, targetName } from "../../base/config/DatabaseUrl.js"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"
import { rowTypes } from "./Connection.js"
import { type Tls, tlsOf } from "./Tls.js"

/** How long a start waits for a database that cannot be reached. */
const patienceMillis = 60_000
const retryAfter = "1 second"
const connectMillis = 5_000

/** A connection that could not be opened, or a statement on it that failed. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly reason: string
  /** The driver's code or PostgreSQL's SQLSTATE; may be empty. */
  readonly code: string
}> {}

export const refusedBy = (error: unknown): Refused => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  return new Refused({ reason: reasonOf(error), code: typeof code === "string" ? code : "" })
}

/** A database that was reached, and how to connect to it. */
export interface Reached {
  readonly name: string
  readonly user: string
  readonly config: ClientConfig
}

const configOf = (target: DatabaseTarget, tls: Tls): ClientConfig => ({
  host: target.host,
  port: target.port,
  user: target.user,
  // Not undefined, which would let the driver take PGPASSWORD.
  password: target.password === null ? "" : Redacted.value(target.password),
  database: target.database,
  ssl: tls,
  keepAlive: true,
  types: rowTypes,
  connectionTimeoutMillis: connectMillis,
  application_name: "coffer-server"
})

/** Opens a connection of its own, closed with the scope. */
export const connectWith = (config: ClientConfig): Effect.Effect<Client, Refused, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const client = new Client(config)
        // A lost connection fails the running statement; as an event it would end the process.
        client.on("error", () => undefined)
        await client.connect()
        return client
      },
      catch: refusedBy
    }),
    (client) => Effect.promise(() => client.end().catch(() => undefined))
  )

/** The same for a transaction of a command, which sends its writes without waiting for each answer, as those of the pool do. */
export const connectPipelined = (config: ClientConfig): Effect.Effect<Client, Refused, Scope.Scope> =>
  connectWith({ ...config, pipeline: true })

/** PostgreSQL refused the login or the database's name: trying again would not help. */
const isFinal = ({ code }: Refused): boolean => /^(28|3D|42)/.test(code)

/** Connects with the first TLS setting that the server takes. A setting of `allow` or `prefer` may not be. */
const connectOnce = (target: DatabaseTarget, [tls, ...more]: ReadonlyArray<Tls>): Effect.Effect<Reached, Refused> => {
  const config = configOf(target, tls ?? false)
  return Effect.scoped(connectWith(config)).pipe(
    Effect.as({ name: targetName(target), user: target.user, config }),
    Effect.catchAll((error) => (more.length === 0 ? Effect.fail(error) : connectOnce(target, more)))
  )
}

/** Connects to a database once. */
export const reachOnce = (target: DatabaseTarget): Effect.Effect<Reached, Refused | StartupError> =>
  Effect.flatMap(tlsOf(target), (tls) => connectOnce(target, tls))

/** Connects to a database, and tries again for a minute if it cannot be reached. */
export const reach = (target: DatabaseTarget): Effect.Effect<Reached, StartupError> =>
  Effect.gen(function* () {
    const name = targetName(target)
    const tls = yield* tlsOf(target)
    const until = (yield* Clock.currentTimeMillis) + patienceMillis
    const attempt = (isFirst: boolean): Effect.Effect<Reached, StartupError> =>
      Effect.catchAll(connectOnce(target, tls), (error) =>
        Effect.gen(function* () {
          const { reason } = error
          if (isFinal(error)) {
            return yield* new StartupError({ message: `the database ${name} refuses the connection: ${reason}` })
          }
          if ((yield* Clock.currentTimeMillis) >= until) {
            return yield* new StartupError({
              message: `the database ${name} could not be reached for a minute (${reason}): check that it runs, and SERVICE_DATABASE_URL`
            })
          }
          if (isFirst)
            yield* Effect.logWarning(`the database ${name} cannot be reached (${reason}): trying for a minute`)
          return yield* Effect.zipRight(Effect.sleep(retryAfter), attempt(false))
        })
      )
    return yield* attempt(true)
  })
