import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, TestClock } from "effect"
import { hasMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { entries, setSecret } from "../support/Services.js"
import {
  create,
  loggingIn,
  mariaDbWorld,
  rotationId,
  runNow,
  show,
  targetOf,
  terms,
  turns,
  valueOf,
  withRotations
} from "./World.js"

describe.skipIf(!hasMariaDb)("a rotation on MariaDB (needs mariadbd)", () => {
  it.effect("gives the idle user a new password and writes it, and leaves the other one valid", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* create(terms(database))
      const { turn } = yield* turns
      const id = yield* rotationId
      yield* runNow
      yield* turn(id)
      assert.isNull((yield* show).problem)
      const first = yield* loggingIn(ada, database)
      assert.strictEqual(first.user, "app_b")
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
      yield* TestClock.adjust("30 days")
      yield* turn(id)
      const second = yield* loggingIn(ada, database)
      assert.strictEqual(second.user, "app_a")
      assert.isFalse(yield* Effect.promise(() => database.admits("app_a", "first-a")))
      assert.isTrue(yield* Effect.promise(() => database.admits("app_b", first.password)))
      const texts = JSON.stringify(yield* entries()) + database.log
      for (const { password } of [first, second]) assert.notInclude(texts, password)
    }).pipe(withRotations)
  )

  it.effect("takes one user, whatever its name and its password have, from each host that it may come from", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      const user = `o'br"ien\`; DROP\\'`
      const quoted = "'o''br\"ien`; DROP\\\\'''"
      for (const host of ["%", "10.%", "it''s"]) {
        yield* Effect.promise(() => database.query(`CREATE USER ${quoted}@'${host}' IDENTIFIED BY 'first'`))
      }
      yield* Effect.promise(() => database.query(`GRANT SELECT ON shop_db.* TO ${quoted}@'%'`))
      yield* create({
        ...terms(database),
        ...{ users: [user], alphabet: "\"'\\%@:/?#&{}$`", length: 40 },
        writes: { ...terms(database).writes, DB_PASSWORD: "{password}" }
      })
      yield* runNow
      yield* (yield* turns).turn(yield* rotationId)
      assert.isNull((yield* show).problem)
      const found = yield* loggingIn(ada, database)
      assert.deepStrictEqual(found, { user, password: yield* valueOf(ada, "DB_PASSWORD") })
      const hashes = yield* Effect.promise(() =>
        database.query(`SELECT DISTINCT authentication_string FROM mysql.user WHERE user = ${quoted}`)
      )
      assert.lengthOf(hashes, 1)
    }).pipe(withRotations)
  )

  it.effect("says why a step failed, and writes nothing that does not log in", () =>
    Effect.gen(function* () {
      const { ada, database } = yield* mariaDbWorld
      yield* create(terms(database))
      const { turn } = yield* turns
      const id = yield* rotationId
      yield* runNow
      yield* setSecret(ada, "RENEWER", "wrong")
      const problemAfter = (statement: string) =>
        Effect.gen(function* () {
          yield* Effect.promise(() => database.query(statement))
          yield* TestClock.adjust("6 hours")
          yield* turn(id)
          return (yield* show).problem
        })
      assert.strictEqual(
        yield* problemAfter("SELECT 1"),
        "the database refused the login: check the connection's user and the secret with its password"
      )
      yield* setSecret(ada, "RENEWER", "canary-renewer-1")
      const notAllowed = "the connection's user may not do this in the database"
      assert.strictEqual(yield* problemAfter("REVOKE CREATE USER ON *.* FROM renewer@'%'"), notAllowed)
      assert.strictEqual(
        yield* problemAfter("RENAME USER app_b@'%' TO app_c@'%'"),
        "the user does not exist in the database"
      )
      yield* Effect.promise(() => database.query("GRANT CREATE USER ON *.* TO renewer@'%'"))
      yield* Effect.promise(() => database.query("RENAME USER app_c@'%' TO app_b@'%'"))
      assert.isNull(yield* problemAfter("SELECT 1"))
      assert.strictEqual((yield* loggingIn(ada, database)).user, "app_b")
    }).pipe(withRotations)
  )

  it.effect("changes no password unless the server confirms that the step is still its own", () =>
    Effect.gen(function* () {
      const { database } = yield* mariaDbWorld
      const login = { user: "app_a", password: Redacted.make("another") }
      const lost = yield* Effect.exit(kinds.mysql.change(targetOf(database), login, Effect.die("the lease was lost")))
      assert.isTrue(Exit.isFailure(lost))
      assert.isTrue(yield* Effect.promise(() => database.admits("app_a", "first-a")))
    }).pipe(withRotations)
  )

  it.effect("keeps the way in which a user proves its password", () =>
    Effect.gen(function* () {
      const { database } = yield* mariaDbWorld
      yield* Effect.promise(async () => {
        await database.query("INSTALL SONAME 'auth_ed25519'")
        await database.query("CREATE USER modern@'%' IDENTIFIED VIA ed25519 USING PASSWORD('first')")
      })
      const login = { user: "modern", password: Redacted.make("second") }
      yield* kinds.mysql.change(targetOf(database), login, Effect.void)
      const [row] = yield* Effect.promise(() => database.query("SELECT plugin FROM mysql.user WHERE user = 'modern'"))
      assert.strictEqual(row?.["plugin"], "ed25519")
    }).pipe(withRotations)
  )
})
