import { Socket } from "node:net"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Client } from "pg"
import { tlsOf } from "./ConnectionTls.js"
import { ConnectionFailed, type ConnectionReason, type Login, type Target } from "./Kind.js"

const connectMillis = 5_000
const statementMillis = 5_000
/** Less than the lease of the job: no transaction of a server that lost it is open when another one begins. */
const idleMillis = 8_000
const allOfIt = Duration.seconds(15)

const reasons: ReadonlyArray<readonly [RegExp, ConnectionReason]> = [
  [/^28/, "login refused"],
  [/^3D000$/, "no database"],
  [/^(?:42704|42501\.user)$/, "no user"],
  [/^42501$/, "not allowed"],
  [/^(?:57014|25P03|55P03)$/, "timeout"],
  [/^[0-9A-Z]{5}$/, "statement refused"],
  [/CERT|TLS|SSL|SELF_SIGNED|VERIFY/, "certificate"]
]

/** The driver's texts may repeat names or what the other side sent, so only its code counts. */
const failedBy = (error: unknown): ConnectionFailed => {
  if (error instanceof ConnectionFailed) return error
  const code = Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""
  const isSlow = error instanceof Error && /timeout/i.test(error.message)
  const found = reasons.find(([pattern]) => pattern.test(code))?.[1]
  return new ConnectionFailed({ reason: found ?? (isSlow ? "timeout" : "connection") })
}

/** Loaded on demand: on SQLite, nothing else needs the driver. */
const library = Effect.promise(() => import("pg"))

/** Logs in, and gives the connection to `work`. The connection is gone afterwards, whatever the other side does. */
export const loggedIn = <A, E>(
  target: Target,
  { password, user }: Login,
  work: (client: Client) => Effect.Effect<A, E | ConnectionFailed>
): Effect.Effect<A, E | ConnectionFailed> =>
  Effect.flatMap(library, ({ default: pg }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const socket = new Socket()
        const client = new pg.Client({
          host: target.address,
          port: target.port,
          database: target.database,
          user,
          password: Redacted.value(password),
          ssl: tlsOf(target),
          stream: () => socket,
          connectionTimeoutMillis: connectMillis,
          query_timeout: statementMillis,
          statement_timeout: statementMillis,
          idle_in_transaction_session_timeout: idleMillis,
          application_name: "coffer-renewal"
        })
        // A lost connection fails the running statement; as an event it would end the process.
        client.on("error", () => undefined)
        return { client, socket }
      }),
      ({ client }) =>
        Effect.zipRight(
          Effect.tryPromise({ try: () => client.connect(), catch: failedBy }),
          Effect.suspend(() => work(client))
        ),
      ({ client, socket }) =>
        Effect.promise(() => client.end().catch(() => undefined)).pipe(
          Effect.timeout("1 second"),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => socket.destroy()))
        )
    )
  ).pipe(Effect.timeoutFail({ duration: allOfIt, onTimeout: () => new ConnectionFailed({ reason: "timeout" }) }))

/** The first row of a statement. */
export const ask = (client: Client, text: string): Effect.Effect<ReadonlyArray<unknown>, ConnectionFailed> =>
  Effect.tryPromise({
    try: async () => {
      const { rows } = await client.query<Array<unknown>>({ text, rowMode: "array" })
      return rows[0] ?? []
    },
    catch: failedBy
  })

/** Runs a statement for its effect alone. */
export const run = (client: Client, text: string): Effect.Effect<void, ConnectionFailed> =>
  Effect.asVoid(Effect.tryPromise({ try: () => client.query({ text, rowMode: "array" }), catch: failedBy }))
