import { createHash, createHmac, pbkdf2, randomBytes } from "node:crypto"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Client } from "pg"
import { filledSql } from "@coffer/domain/secrets/SqlTemplate"
import { type Abilities, ConnectionFailed, type Kind, leasedUserForm } from "./Kind.js"
import { ask, loggedIn, run } from "./PostgresLogin.js"

const derive = promisify(pbkdf2)
const iterations = 4_096

/** The verifier that PostgreSQL stores (RFC 5803), so that no statement, and no log of the database, has the password. */
export const scramVerifier = async (password: string, salt: Uint8Array = randomBytes(16)): Promise<string> => {
  const salted = await derive(password, salt, iterations, 32, "sha256")
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  const parts = `${Buffer.from(salt).toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
  return `SCRAM-SHA-256$${iterations}:${parts}`
}

/** The making and the removal of one leased user wait for each other: until the session of the first is gone. */
const lockUser = (client: Client, name: string) =>
  run(client, `SELECT pg_advisory_lock(hashtextextended(${client.escapeLiteral(`coffer lease ${name}`)}, 0))`)

/** A time that the database's own clock reaches after so long. */
const timeIn = (client: Client, millis: number) =>
  Effect.map(
    ask(client, `SELECT (clock_timestamp() + ${Math.trunc(millis)} * interval '1 millisecond')::text`),
    ([at]) => client.escapeLiteral(String(at))
  )

const exists = (client: Client, name: string) =>
  Effect.map(
    ask(client, `SELECT 1 FROM pg_roles WHERE rolname = ${client.escapeLiteral(name)}`),
    ([found]) => found === 1
  )

const sessionsOf = (client: Client, name: string) =>
  Effect.map(
    ask(
      client,
      `SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity WHERE usename = ${client.escapeLiteral(name)}`
    ),
    ([count]) => Number(count)
  )

/** Two transactions that grant on one object, or revoke, cannot run at once: the later one would fail. */
const inTurn = "SELECT pg_advisory_xact_lock(hashtextextended('coffer leases', 0))"

const inTransaction = <E>(client: Client, statements: ReadonlyArray<string>, confirm: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    yield* run(client, "BEGIN")
    yield* run(client, inTurn)
    yield* Effect.forEach(statements, (statement) => run(client, statement), { discard: true })
    yield* confirm
    yield* run(client, "COMMIT")
  })

/** How many times the end of sessions is looked for, every tenth of a second. */
const mostLooks = 30

export const postgres: Kind = {
  abilities: (target) =>
    loggedIn(target, target.login, (client) =>
      Effect.map(
        ask(
          client,
          `SELECT current_setting('server_version'), rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user`
        ),
        ([version, mayCreate]): Abilities => ({
          version: typeof version === "string" ? version.slice(0, 40) : "",
          may_create: mayCreate === true,
          may_change: mayCreate === true
        })
      )
    ),

  change: (target, { password, user }, confirm) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        const verifier = yield* Effect.promise(() => scramVerifier(Redacted.value(password)))
        yield* ask(client, "BEGIN")
        const statement = `ALTER ROLE ${client.escapeIdentifier(user)} PASSWORD ${client.escapeLiteral(verifier)}`
        yield* ask(client, statement)
        yield* confirm
        yield* ask(client, "COMMIT")
      })
    ),

  check: (target, login) =>
    loggedIn(target, login, (client) =>
      Effect.flatMap(ask(client, "SELECT current_user::text"), ([user]) =>
        user === login.user ? Effect.void : new ConnectionFailed({ reason: "another user" })
      )
    ),

  create: (target, { millis, name, password }, statements, { confirm }) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, name)
        const verifier = yield* Effect.promise(() => scramVerifier(Redacted.value(password)))
        const literals = {
          name: client.escapeIdentifier(name),
          password: client.escapeLiteral(verifier),
          expires: yield* timeIn(client, millis),
          database: client.escapeIdentifier(target.database)
        }
        yield* inTransaction(
          client,
          statements.map((statement) => filledSql(statement, literals)),
          confirm
        )
      })
    ),

  extend: (target, { millis, name }, confirm) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, name)
        const until = yield* timeIn(client, millis)
        yield* inTransaction(client, [`ALTER ROLE ${client.escapeIdentifier(name)} VALID UNTIL ${until}`], confirm)
      })
    ),

  remove: (target, name, statements) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, name)
        if (!(yield* exists(client, name))) return
        const quoted = client.escapeIdentifier(name)
        yield* run(client, `ALTER ROLE ${quoted} NOLOGIN`)
        // Only a member of a role may end its sessions, and take over what it owns. A superuser need not be one.
        yield* Effect.ignore(run(client, `GRANT ${quoted} TO CURRENT_USER`))
        for (let looks = 0; (yield* sessionsOf(client, name)) > 0; looks++) {
          if (looks === mostLooks) return yield* new ConnectionFailed({ reason: "sessions left" })
          yield* run(client, "SELECT pg_sleep(0.1)")
        }
        const database = client.escapeIdentifier(target.database)
        const literals = { name: quoted, password: "NULL", expires: "NULL", database }
        const filled = statements.map((statement) => filledSql(statement, literals))
        const done = yield* Effect.either(inTransaction(client, filled, Effect.void))
        yield* Effect.ignore(run(client, "ROLLBACK"))
        if (!(yield* exists(client, name))) return
        return yield* done._tag === "Left" ? done.left : new ConnectionFailed({ reason: "user left" })
      })
    ),

  leased: (target) =>
    loggedIn(target, target.login, (client) =>
      Effect.map(
        ask(
          client,
          `SELECT coalesce(json_agg(rolname ORDER BY rolname), '[]')::text FROM pg_roles WHERE rolname LIKE 'coffer\\_%'`
        ),
        ([names]): ReadonlyArray<string> => {
          const found: unknown = JSON.parse(String(names))
          return Array.isArray(found)
            ? found.filter((name): name is string => Predicate.isString(name) && leasedUserForm.test(name))
            : []
        }
      )
    ),

  urlOf: ({ database, host, port, tls }, { password, user }) => {
    const authority = `${encodeURIComponent(user)}:${encodeURIComponent(Redacted.value(password))}@${host.includes(":") ? `[${host}]` : host}:${port}`
    return Redacted.make(`postgres://${authority}/${encodeURIComponent(database)}?sslmode=${tls}`)
  }
}
