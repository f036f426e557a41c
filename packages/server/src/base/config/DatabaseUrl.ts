import { isIP } from "node:net"
import { userInfo } from "node:os"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"

/** The values of `sslmode`, with libpq's meaning (PostgreSQL's documentation, chapter "SSL Support"). */
export const tlsModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const

export type TlsMode = (typeof tlsModes)[number]

/** Where a PostgreSQL database is, and as whom to log in. */
export interface DatabaseTarget {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: Redacted.Redacted | null
  readonly database: string
  readonly tls: {
    readonly mode: TlsMode
    /** The file of the certificate authority; `system` for the operating system's. */
    readonly rootCertificate: string | null
    /** The files of the client's certificate and key. */
    readonly certificate: string | null
    readonly key: string | null
  }
}

const form = "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded"

/** Not parsed as a web address: one with a user and no host, which names a socket, would be invalid. */
const pattern =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<host>\[[0-9a-f:.]+\]|[^:@/?#[\]]*)(?::(?<port>[0-9]{1,5}))?(?:\/(?<database>[^/?#]*))?(?:\?(?<query>[^#]*))?$/i

const parameters = [
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "application_name",
  "connect_timeout",
  "target_session_attrs"
]

const isMode = (text: string): text is TlsMode => tlsModes.some((mode) => mode === text)

export const isSocket = ({ host }: Pick<DatabaseTarget, "host">): boolean => host.startsWith("/")

const isLocal = (host: string): boolean =>
  isSocket({ host }) || host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

const decoded = (text: string | undefined): string => decodeURIComponent(text ?? "")

const unencrypted = (host: string): TlsMode => (isLocal(host) ? "disable" : "require")

/** The user of the process; empty if the system has no name for it. */
const userOfProcess = (): string =>
  Either.getOrElse(
    Either.try(() => userInfo().username),
    () => ""
  )

/**
 * Parses the URL of a PostgreSQL database, as libpq does. Fails with the end of a sentence, which never repeats the URL.
 * Without `sslmode`, TLS is required unless the host is loopback or a socket.
 */
export const parseDatabaseUrl = (url: string): Either.Either<DatabaseTarget, string> =>
  Either.gen(function* () {
    const groups = pattern.exec(url)?.groups
    if (groups === undefined) {
      return yield* Either.left(
        /^postgres(ql)?:\/\/[^/?#]*,/i.test(url) ? "must name one host: the primary, or a proxy that finds it" : form
      )
    }
    const part = yield* Either.try({
      try: () => ({
        user: decoded(groups["user"]),
        password: decoded(groups["password"]),
        host: decoded(groups["host"]).replace(/^\[(.*)\]$/, "$1"),
        database: decoded(groups["database"]),
        query: new URLSearchParams(groups["query"] ?? "")
      }),
      catch: () => form
    })
    for (const name of part.query.keys()) {
      if (!parameters.includes(name)) {
        return yield* Either.left(`has an unknown parameter: use only ${parameters.slice(0, 9).join(", ")}`)
      }
    }
    const given = (name: string, otherwise: string): string => part.query.get(name) ?? otherwise
    const host = given("host", part.host) || "localhost"
    const port = Number(given("port", groups["port"] ?? "") || 5432)
    const user = given("user", part.user) || userOfProcess()
    const password = given("password", part.password)
    const rootCertificate = part.query.get("sslrootcert")
    const mode = given("sslmode", rootCertificate === "system" ? "verify-full" : unencrypted(host))
    if (!isMode(mode)) return yield* Either.left(`must have as sslmode one of ${tlsModes.join(", ")}`)
    if (host.includes(",")) return yield* Either.left("must name one host: the primary, or a proxy that finds it")
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      return yield* Either.left("must have a port from 1 to 65535")
    if (user === "") return yield* Either.left("must name a user")
    if (rootCertificate === "system" && mode !== "verify-full") {
      return yield* Either.left("must have sslmode=verify-full with sslrootcert=system")
    }
    return {
      host,
      port,
      user,
      password: password === "" ? null : Redacted.make(password),
      database: given("dbname", part.database) || user,
      tls: { mode, rootCertificate, certificate: part.query.get("sslcert"), key: part.query.get("sslkey") }
    }
  })

/** The database and its host, for logs and messages. */
export const targetName = (target: DatabaseTarget): string =>
  `${target.database} at ${isSocket(target) ? target.host : `${target.host}:${target.port}`}`
