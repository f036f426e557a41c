import { connect } from "node:net"
import { checkServerIdentity, TLSSocket } from "node:tls"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Connection } from "mysql2"
import { ConnectionFailed, type ConnectionReason, type Login, type Target } from "./Kind.js"

export type Client = ReturnType<Connection["promise"]>

const connectMillis = 5_000
const statementMillis = 5_000
const allOfIt = Duration.seconds(15)
/** Responses are short. A server that sends more is cut off. */
const mostBytes = 4 * 1024 * 1024

/**
 * The session ends 8 seconds after the last statement, which is less than the lease of the job: a paused server changes nothing when
 * it wakes. Statements give up in the database too. The parser of templates knows no backslashes, so the database must not either.
 */
const settings = `SET SESSION wait_timeout = 8, lock_wait_timeout = 4, innodb_lock_wait_timeout = 4,
  sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES') /*M!100100 , max_statement_time = 5 */`

const reasons: ReadonlyArray<readonly [ConnectionReason, ReadonlyArray<number | string>]> = [
  ["login refused", [1044, 1045, 1129, 1130, 1251, 1524, 1698, 1820, 1862, 3118, 4151]],
  ["login refused", ["AUTH_SWITCH_PLUGIN_ERROR", "MYSQL_CLEAR_PASSWORD_NOT_ENABLED"]],
  ["no database", [1049]],
  ["timeout", [1205, 1317, 1969, 3024, 4031, "ETIMEDOUT", "PROTOCOL_SEQUENCE_TIMEOUT"]],
  ["certificate", ["HANDSHAKE_NO_SSL_SUPPORT", "HANDSHAKE_SSL_ERROR"]],
  ["connection", [1040]]
]

const notAllowed: ReadonlySet<unknown> = new Set([1044, 1045, 1095, 1142, 1143, 1227, 1370, 1410])

const property = (error: unknown, name: string): unknown =>
  Predicate.hasProperty(error, name) ? error[name] : undefined

/** The driver's texts may repeat names or what the other side sent, so only its codes count. */
const failedBy =
  (isLoggedIn: boolean) =>
  (error: unknown): ConnectionFailed => {
    const [code, number] = [property(error, "code"), property(error, "errno")]
    if (isLoggedIn && notAllowed.has(number)) return new ConnectionFailed({ reason: "not allowed" })
    const found = reasons.find(([, codes]) => codes.some((one) => one === code || one === number))?.[0]
    const isOfServer = typeof number === "number" && number >= 1_000
    return new ConnectionFailed({ reason: found ?? (isOfServer ? "statement refused" : "connection") })
  }

/** The driver compares a certificate with "localhost" if the host is an address, so this compares it, before the login. */
const comparingNames = (client: Connection, host: string): void => {
  const startTls: unknown = Predicate.hasProperty(client, "startTLS") ? client.startTLS : undefined
  const problem = () =>
    Predicate.hasProperty(client, "stream") && client.stream instanceof TLSSocket
      ? checkServerIdentity(host, client.stream.getPeerCertificate())
      : new Error("no TLS")
  Object.assign(client, {
    startTLS: (onSecure: (error?: Error) => void) =>
      Predicate.isFunction(startTls)
        ? void Reflect.apply(startTls, client, [(error?: Error) => onSecure(error ?? problem())])
        : onSecure(problem())
  })
}

/** Loaded on demand: few servers need the driver. */
const library = Effect.promise(() => import("mysql2"))

/** Logs in, and gives the connection to `work`. The connection is gone afterwards, whatever the other side does. */
export const loggedIn = <A, E>(
  { address, ca, database, host, port, tls }: Target,
  { password, user }: Login,
  work: (client: Client) => Effect.Effect<A, E | ConnectionFailed>
): Effect.Effect<A, E | ConnectionFailed> =>
  Effect.flatMap(library, ({ default: mysql }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const socket = connect({ host: address, port, noDelay: true })
        const connection = mysql.createConnection({
          ...{ stream: socket, host, port, database, user, password: Redacted.value(password) },
          // Also when NODE_TLS_REJECT_UNAUTHORIZED=0 is set.
          ssl: { rejectUnauthorized: tls !== "require", ...(ca !== null && { ca }) },
          ...{ connectTimeout: connectMillis, charset: "utf8mb4", flags: ["-LOCAL_FILES"] },
          ...{ disableEval: true, rowsAsArray: true, trace: false },
          connectAttributes: { program_name: "coffer-renewal" }
        })
        if (tls === "verify-full") comparingNames(connection, host)
        // A lost connection fails the running statement; as an event it would end the process.
        connection.on("error", () => undefined)
        return { client: connection.promise(), socket, isOpen: false }
      }),
      (own) =>
        Effect.tryPromise({ try: () => own.client.connect(), catch: failedBy(false) }).pipe(
          Effect.zipRight(Effect.sync(() => (own.isOpen = true))),
          Effect.zipRight(run(own.client, settings)),
          Effect.zipRight(Effect.suspend(() => work(own.client))),
          Effect.raceFirst(flooded(() => own.socket.bytesRead))
        ),
      ({ client, isOpen, socket }) =>
        Effect.promise(async () => (isOpen ? client.end().catch(() => undefined) : undefined)).pipe(
          Effect.timeout("1 second"),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => socket.destroy()))
        )
    )
  ).pipe(Effect.timeoutFail({ duration: allOfIt, onTimeout: () => new ConnectionFailed({ reason: "timeout" }) }))

/** Fails once too much was read. */
const flooded = (bytes: () => number): Effect.Effect<never, ConnectionFailed> =>
  Effect.suspend(() => (bytes() > mostBytes ? new ConnectionFailed({ reason: "connection" }) : Effect.sleep(50))).pipe(
    Effect.forever
  )

/** The rows of a statement. */
export const rowsOf = (
  client: Client,
  sql: string
): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, ConnectionFailed> =>
  Effect.tryPromise({
    try: async () => {
      const [rows]: ReadonlyArray<unknown> = await client.query({ sql, timeout: statementMillis })
      return Array.isArray(rows) ? rows.filter((row): row is ReadonlyArray<unknown> => Array.isArray(row)) : []
    },
    catch: failedBy(true)
  })

/** The first row of a statement. */
export const ask = (client: Client, sql: string): Effect.Effect<ReadonlyArray<unknown>, ConnectionFailed> =>
  Effect.map(rowsOf(client, sql), ([first]) => first ?? [])

/** Runs a statement for its effect alone. */
export const run = (client: Client, sql: string): Effect.Effect<void, ConnectionFailed> =>
  Effect.asVoid(rowsOf(client, sql))
