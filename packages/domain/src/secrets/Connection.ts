import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { LeaseId } from "../base/Ids.js"
import { ConnectionName, SecretKey } from "../base/Names.js"
import { Count, createdAt, field, optional } from "../base/Schemas.js"

/** The kinds of programs that the server logs in to. */
export const connectionKinds = ["postgres", "mysql", "http"] as const
export type ConnectionKind = (typeof connectionKinds)[number]
const Kind = Schema.Literal(...connectionKinds).annotations(withMessage("must be postgres, mysql or http"))

/** The port of each kind, unless a connection has its own. */
export const defaultPorts: Readonly<Record<ConnectionKind, number>> = { postgres: 5_432, mysql: 3_306, http: 443 }

const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$/
const ConnectionHost = Schema.String.pipe(
  Schema.pattern(hostPattern, withMessage("must be the name of a host or an address, without a port"))
)

const portMessage = withMessage("must be a port: a whole number from 1 to 65535")
const ConnectionPort = Schema.Int.annotations(portMessage).pipe(Schema.between(1, 65_535, portMessage))

/** Names in a database. They are quoted wherever they are sent, so any printable text may be one. */
const databaseName = (what: string) =>
  Schema.String.pipe(
    Schema.pattern(/^[^\p{Cc}\p{Cs}]{1,63}$/u, withMessage(`must be the name of ${what}: 1 to 63 printable characters`))
  )
const DatabaseName = databaseName("a database")
export const DatabaseUser = databaseName("a user of the database")

export const tlsModes = ["verify-full", "verify-ca", "require"] as const
export type TlsMode = (typeof tlsModes)[number]
const Tls = Schema.Literal(...tlsModes).annotations(withMessage("must be verify-full, verify-ca or require"))

const caMessage = "must be certificates in PEM, of at most 64 KiB"
const Ca = Schema.String.pipe(
  Schema.filter(
    (text) =>
      text.length <= 64 * 1024 && /^-----BEGIN CERTIFICATE-----\r?\n[\s\S]+-----END CERTIFICATE-----\s*$/.test(text),
    withMessage(caMessage)
  )
)

const texts = {
  name: "its name",
  kind: "the kind of program: postgres, mysql (also for MariaDB), or http (a program of your own)",
  host: "the name of the host, or its address",
  port: "its port",
  database: "the database, in which logins are tried too; for http, the path of the program",
  tls: "how the certificate is checked: verify-full (with the name of the host), verify-ca, or require (not at all)",
  ca: "certificates to trust instead of those of the system, in PEM",
  user: "the user that the server logs in with",
  password_key:
    "the key of the secret of this environment with the user's password, read at each use; for http, it signs requests"
}

const nameExample = ConnectionName.make("shop-db")
const keyExample = SecretKey.make("RENEWAL_PASSWORD")

export const newConnection = {
  name: field(ConnectionName, texts.name, nameExample),
  kind: optional(Kind, `${texts.kind}; default: postgres`, "postgres"),
  host: field(ConnectionHost, texts.host, "db.internal.example.com"),
  port: optional(ConnectionPort, `${texts.port}; default: 5432, 3306 for mysql, 443 for http`, 5432),
  database: field(DatabaseName, texts.database, "shop"),
  tls: optional(Tls, `${texts.tls}; default: verify-full`, "verify-full"),
  ca: optional(Ca, texts.ca, "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"),
  user: field(DatabaseUser, texts.user, "coffer_renewal"),
  password_key: field(SecretKey, texts.password_key, keyExample)
}

export const Connection = Schema.Struct({
  name: field(ConnectionName, texts.name, nameExample),
  kind: field(Kind, texts.kind, "postgres"),
  host: field(Schema.String, texts.host, "db.internal.example.com"),
  port: field(ConnectionPort, texts.port, 5432),
  database: field(Schema.String, texts.database, "shop"),
  tls: field(Tls, texts.tls, "verify-full"),
  ca: field(Schema.NullOr(Schema.String), `${texts.ca}; null: those of the system`, null),
  user: field(Schema.String, texts.user, "coffer_renewal"),
  password_key: field(SecretKey, texts.password_key, keyExample),
  orphans: field(
    Count,
    "users in the database that leases made and no lease has: what a look each day has found; remove them with coffer rotation orphans",
    0
  ),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt
}).annotations({
  identifier: "Connection",
  description: "what the server logs in with to renew credentials of an environment"
})
export type Connection = typeof Connection.Type

export const Orphan = Schema.Struct({
  lease_id: field(LeaseId, "the id of the lease that made it, which its name carries"),
  username: field(Schema.String, "the user in the database", "coffer_00oq7a0zxv9s1q8t2m4w6y8b")
}).annotations({ identifier: "Orphan", description: "a user in a database that a lease made and no lease has" })
export type Orphan = typeof Orphan.Type

export const ConnectionTest = Schema.Struct({
  ok: field(Schema.Boolean, "whether the login worked", true),
  problem: field(Schema.NullOr(Schema.String), "why it did not; null if it did", null),
  version: field(Schema.NullOr(Schema.String), "the version of the program; null without a login", "15.4"),
  may_create: field(Schema.Boolean, "whether the user may create users", true),
  may_change: field(Schema.Boolean, "whether the user may change the passwords of other users", true),
  orphans: field(
    Schema.Array(Orphan),
    "users there that leases made and no lease of this server has; another server may have them",
    []
  )
}).annotations({ identifier: "ConnectionTest", description: "the result of a login that changed nothing" })
export type ConnectionTest = typeof ConnectionTest.Type
