import { createHash } from "node:crypto"
import { filledSql } from "@coffer/domain/secrets/SqlTemplate"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ConnectionFailed, type Kind, leasedUserForm, leasedSince } from "./Kind.js"
import { account, checkEnds, expiry, formsOf, granted, literal, passwordForm, rightsOf } from "./MySqlForms.js"
import { ask, type Client, loggedIn, rowsOf, run } from "./MySqlLogin.js"

/** Logins that change one user wait for each other: until the session of the first is gone. */
const lockUser = (client: Client, user: string) => {
  const name = `coffer ${createHash("sha256").update(user).digest("hex").slice(0, 48)}`
  return Effect.flatMap(ask(client, `SELECT GET_LOCK(${literal(name)}, 4)`), ([got]) =>
    got === 1 ? Effect.void : new ConnectionFailed({ reason: "timeout" })
  )
}

const exists = (client: Client, user: string) =>
  Effect.map(ask(client, `SELECT COUNT(*) FROM mysql.user WHERE user = ${literal(user)}`), ([count]) => count !== 0)

/** How many times the end of sessions is looked for, every tenth of a second. */
const mostLooks = 30

const endSessions = (client: Client, name: string) =>
  Effect.gen(function* () {
    for (let looks = 0; ; looks++) {
      const sessions = yield* rowsOf(
        client,
        `SELECT id FROM information_schema.processlist WHERE user = ${literal(name)}`
      )
      if (sessions.length === 0) return
      if (looks === mostLooks) return yield* new ConnectionFailed({ reason: "sessions left" })
      // One that has ended meanwhile cannot be ended: the next look tells.
      yield* Effect.forEach(sessions, ([id]) => Effect.ignore(run(client, `KILL CONNECTION ${Number(id)}`)))
      yield* run(client, "DO SLEEP(0.1)")
    }
  })

/** MySQL and MariaDB, which commit each statement about users at once. */
export const mysql: Kind = {
  abilities: (target) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        const [version] = yield* ask(client, "SELECT VERSION()")
        const { ends, users } = yield* rightsOf(client)
        const reads = yield* Effect.isSuccess(exists(client, ""))
        const may_change = users && reads
        return { version: String(version).slice(0, 40), may_create: may_change && ends, may_change }
      })
    ),

  change: (target, { password, user }, confirm) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, user)
        const forms = yield* formsOf(client)
        const hosts = yield* rowsOf(client, `SELECT host, plugin FROM mysql.user WHERE user = ${literal(user)}`)
        if (hosts.length === 0) return yield* new ConnectionFailed({ reason: "no user" })
        yield* confirm
        const text = Redacted.value(password)
        for (const [host, plugin] of hosts) {
          // MariaDB would otherwise let the user prove its password in the default way.
          const isOther = forms.isMariaDb && plugin !== "mysql_native_password" && plugin !== ""
          const form = isOther
            ? `VIA \`${String(plugin).replaceAll("`", "``")}\` USING PASSWORD(${literal(text)})`
            : `BY ${passwordForm(forms, text)}`
          yield* run(client, `ALTER USER ${account(user, String(host))} IDENTIFIED ${form}`)
        }
      })
    ),

  check: (target, login) =>
    loggedIn(target, login, (client) =>
      Effect.flatMap(ask(client, "SELECT CURRENT_USER()"), ([whose]) =>
        String(whose).replace(/@[^@]*$/, "") === login.user
          ? Effect.void
          : new ConnectionFailed({ reason: "another user" })
      )
    ),

  create: (target, { millis, name, password }, statements, { confirm, isWanted }) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* checkEnds(client)
        const form = passwordForm(yield* formsOf(client), Redacted.value(password))
        const seconds = Math.ceil(millis / 1_000)
        const [expires] = yield* ask(client, `SELECT CAST(NOW() + INTERVAL ${seconds} SECOND AS CHAR)`)
        const whose = account(name, "%")
        const database = granted(target.database)
        const literals = { name: whose, password: form, expires: literal(String(expires)), database }
        yield* lockUser(client, name)
        yield* isWanted
        const made = [...statements.map((statement) => filledSql(statement, literals)), expiry(name, millis)]
        yield* Effect.forEach(made, (statement) => run(client, statement), { discard: true }).pipe(
          Effect.zipRight(confirm),
          Effect.onError(() => Effect.ignore(run(client, `DROP USER IF EXISTS ${whose}`)))
        )
      })
    ),

  extend: (target, { millis, name }, confirm) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, name)
        const age = (yield* Clock.currentTimeMillis) - leasedSince(name)
        // An end that is too late until the server confirms it does no harm: the server removes the user by its own time.
        yield* run(client, expiry(name, Math.max(0, age) + millis + 300_000))
        yield* confirm
      })
    ),

  remove: (target, name, statements) =>
    loggedIn(target, target.login, (client) =>
      Effect.gen(function* () {
        yield* lockUser(client, name)
        if (!(yield* exists(client, name))) return
        yield* checkEnds(client)
        const whose = account(name, "%")
        yield* run(client, `ALTER USER ${whose} ACCOUNT LOCK`)
        yield* endSessions(client, name)
        const literals = { name: whose, password: "NULL", expires: "NULL", database: granted(target.database) }
        const filled = statements.map((statement) => filledSql(statement, literals))
        const done = yield* Effect.either(Effect.forEach(filled, (statement) => run(client, statement)))
        if (!(yield* exists(client, name))) return
        return yield* done._tag === "Left" ? done.left : new ConnectionFailed({ reason: "user left" })
      })
    ),

  leased: (target) =>
    loggedIn(target, target.login, (client) =>
      Effect.map(rowsOf(client, "SELECT user FROM mysql.user WHERE LEFT(user, 7) = 'coffer_' ORDER BY user"), (rows) =>
        rows.map(([name]) => String(name)).filter((name) => leasedUserForm.test(name))
      )
    ),

  urlOf: ({ database, host, port }, { password, user }) => {
    const authority = `${encodeURIComponent(user)}:${encodeURIComponent(Redacted.value(password))}@${host.includes(":") ? `[${host}]` : host}:${port}`
    return Redacted.make(`mysql://${authority}/${encodeURIComponent(database)}`)
  }
}
