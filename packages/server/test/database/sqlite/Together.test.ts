import { afterCommit, Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Schema } from "effect"
import { countingStatements, failingStatement } from "../../support/FailingDriver.js"
import { logged } from "../../support/Logged.js"
import { onDatabase, person, transaction } from "../../support/Services.js"

const names = Array.from({ length: 20 }, (_, index) => `person-${index}@example.com`)

const Names = Schema.Struct({ email: Schema.String })

/** Returns the addresses of the users that every reader sees. */
const seen = Effect.gen(function* () {
  const rows = yield* (yield* query).all(Names)`SELECT email FROM users`({})
  return new Set(rows.map(({ email }) => email))
})

/** Counts the commits of this process while an effect runs. */
const countingCommits = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(countingStatements(/^COMMIT/, effect), ({ count, result }) => ({ result, commits: count }))

describe("changes at the same time", () => {
  it.effect("are committed together, and each is there for everybody when it is told", () =>
    Effect.gen(function* () {
      const told = names.map((name) => Effect.flatMap(person(name), () => Effect.map(seen, (found) => found.has(name))))
      const { commits, result } = yield* countingCommits(Effect.all(told, { concurrency: "unbounded" }))
      assert.deepStrictEqual(
        result,
        names.map(() => true)
      )
      assert.isBelow(commits, names.length / 2)
    }).pipe(onDatabase())
  )

  it.effect("are committed together when they arrive one by one in a turn of the event loop, as requests do", () =>
    Effect.gen(function* () {
      // Each timer's work is through, as far as it can be, before the next timer's begins: so it is with sockets too.
      const arriving = (name: string) =>
        Effect.zipRight(
          Effect.async<void>((resume) => {
            setTimeout(() => resume(Effect.void), 10)
          }),
          person(name)
        )
      const { commits } = yield* countingCommits(Effect.forEach(names, arriving, { concurrency: "unbounded" }))
      assert.isBelow(commits, names.length / 2)
      assert.deepStrictEqual(yield* seen, new Set(names))
    }).pipe(onDatabase())
  )

  it.effect("are committed apart once what is committed together is large", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const failures = Effect.map(sql`SELECT count(*) AS count FROM login_failures`, ([row]) => row?.count)
      const insert = (rows: number) =>
        transaction(
          Effect.forEach(
            Array.from({ length: rows }),
            () =>
              sql`INSERT INTO login_failures (id, email, created_at)
              VALUES (${crypto.randomUUID()}, 'ada@example.com', 'now')`
          )
        )
      const together = yield* countingCommits(
        Effect.forEach([400, 400, 400, 400], insert, { concurrency: "unbounded" })
      )
      assert.strictEqual(together.commits, 2)
      const alone = yield* countingCommits(Effect.forEach([2_000, 2_000, 2_000], insert, { concurrency: "unbounded" }))
      assert.strictEqual(alone.commits, 3)
      assert.strictEqual(yield* failures, 7_600)
    }).pipe(onDatabase())
  )

  it.effect("are committed apart once they hold many bytes, however few rows they are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const insert = (index: number) =>
        transaction(
          sql`INSERT INTO login_failures (id, email, created_at)
            VALUES (${`failure ${index}`}, ${"x".repeat(512 * 1024)}, 'now')`
        )
      const { commits } = yield* countingCommits(
        Effect.forEach([1, 2, 3, 4, 5, 6], insert, { concurrency: "unbounded" })
      )
      assert.strictEqual(commits, 3)
    }).pipe(onDatabase())
  )

  it.effect("are each taken back alone when they fail", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.forEach(
        names,
        (name, index) =>
          Effect.exit(transaction(Effect.zipRight(person(name), index % 3 === 0 ? Effect.fail("no") : Effect.void))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        exits.map(Exit.isSuccess),
        names.map((_, index) => index % 3 !== 0)
      )
      assert.deepStrictEqual(yield* seen, new Set(names.filter((_, index) => index % 3 !== 0)))
    }).pipe(onDatabase())
  )

  it.effect("all fail when their commit fails, and not one of them has happened", () =>
    Effect.gen(function* () {
      const { exit, statement } = yield* failingStatement(
        1,
        Effect.forEach(names, (name) => Effect.exit(person(name)), { concurrency: "unbounded" }),
        /^COMMIT/
      )
      assert.strictEqual(statement, "COMMIT")
      const exits = yield* exit
      const found = yield* seen
      assert.isAbove(exits.filter(Exit.isFailure).length, 1, "more than one was in the commit")
      assert.deepStrictEqual(
        exits.map(Exit.isSuccess),
        names.map((name) => found.has(name))
      )
      yield* person("later@example.com")
      assert.isTrue((yield* seen).has("later@example.com"))
    }).pipe(onDatabase())
  )

  it.effect("fail whole when a part of them cannot be taken back", () =>
    Effect.gen(function* () {
      const part = Effect.ignore(transaction(Effect.zipRight(person("b@example.com"), Effect.fail("no"))))
      const change = transaction(Effect.zipRight(person("a@example.com"), part))
      const { exit, statement } = yield* failingStatement(1, change, /^ROLLBACK TO/)
      assert.isDefined(statement)
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* seen, new Set())
      yield* person("c@example.com")
      assert.deepStrictEqual(yield* seen, new Set(["c@example.com"]))
    }).pipe(onDatabase())
  )

  it.effect("are told as done once they are committed, also when what was to follow breaks", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const failing = transaction(Effect.zipRight(person("a@example.com"), afterCommit(Effect.die("broken"))))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(failing)))
      assert.deepStrictEqual(yield* seen, new Set(["a@example.com"]))
      assert.deepStrictEqual(lines, ["ERROR a change is committed, but a step after its commit failed"])
    }).pipe(Effect.provide(layer), onDatabase())
  })

  it.effect("fail whole, and hold nobody up, when what they left to the commit breaks", () =>
    Effect.gen(function* () {
      const { beforeCommit } = yield* Database
      const leave = beforeCommit<string>(([first]) => (first === "broken" ? Effect.die("broken") : Effect.void))
      const leaving = (name: string, item: string) => transaction(Effect.zipRight(person(name), leave(item)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(leaving("a@example.com", "broken"))))
      assert.deepStrictEqual(yield* seen, new Set())
      yield* leaving("b@example.com", "whole")
      assert.deepStrictEqual(yield* seen, new Set(["b@example.com"]))
    }).pipe(onDatabase())
  )

  it.effect("lose nothing that comes after a commit that failed and could not be taken back either", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const next = {
        change: person("b@example.com"),
        statement: sql`DELETE FROM users WHERE email = 'b@example.com'`
      }
      for (const [what, effect] of Object.entries(next)) {
        const failing = failingStatement(1, person("a@example.com"), /^COMMIT/)
        const { exit, statement } = yield* failingStatement(1, failing, /^ROLLBACK$/)
        assert.isDefined(statement)
        assert.isTrue(Exit.isFailure((yield* exit).exit))
        yield* effect
        assert.deepStrictEqual(yield* seen, new Set(what === "change" ? ["b@example.com"] : []), what)
      }
    }).pipe(Effect.withTracerEnabled(false), onDatabase())
  )

  it.effect("do not refuse anybody by what has never happened", () =>
    Effect.gen(function* () {
      const [made, refused] = [person("a@example.com"), transaction(Effect.fail("it already exists"))]
      const { exit } = yield* failingStatement(
        1,
        Effect.all([Effect.exit(made), Effect.exit(refused)], { concurrency: "unbounded" }),
        /^COMMIT/
      )
      for (const each of yield* exit) {
        assert.isTrue(Exit.isFailure(each) && Cause.isDie(each.cause), String(each))
      }
    }).pipe(onDatabase())
  )

  it.effect("are whole or nothing, and hold nobody up, at whichever step they are given up", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const both = Effect.zipRight(person("a@example.com"), transaction(person("b@example.com")))
      const kept: Array<number> = []
      for (let turns = 0; turns < 160; turns += 2) {
        const change = yield* Effect.fork(Effect.withMaxOpsBeforeYield(transaction(both), 14))
        yield* Effect.repeatN(Effect.yieldNow(), turns)
        const exit = yield* Fiber.interrupt(change)
        const { size } = yield* seen
        assert.isTrue(size === 0 || size === 2, `${turns}: ${size}`)
        assert.isTrue(size === 2 || Exit.isFailure(exit), "what is not kept is not told")
        kept.push(size)
        yield* person("c@example.com")
        yield* sql`DELETE FROM users`
      }
      assert.sameMembers([...new Set(kept)], [0, 2])
    }).pipe(Effect.withTracerEnabled(false), onDatabase())
  )

  it.effect("hold nobody up who gives up waiting", () =>
    Effect.gen(function* () {
      const [entered, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.fork(
        transaction(
          Effect.zipRight(
            Deferred.succeed(entered, undefined),
            Effect.zipRight(Deferred.await(go), person("a@example.com"))
          )
        )
      )
      yield* Deferred.await(entered)
      const second = yield* Effect.fork(person("b@example.com"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(second)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* seen, new Set(["a@example.com"]))
    }).pipe(onDatabase())
  )

  it.effect("let the next one in when the one that was to be next gives up", () =>
    Effect.gen(function* () {
      const [entered, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = Effect.zipRight(Deferred.succeed(entered, undefined), Deferred.await(go))
      const first = yield* Effect.fork(transaction(holding))
      yield* Deferred.await(entered)
      const [second, third] = [yield* Effect.fork(person("b@example.com")), yield* Effect.fork(person("c@example.com"))]
      yield* Effect.yieldNow()
      // It is told to go on, and to end, in one step.
      yield* Effect.zipRight(Deferred.succeed(go, undefined), Fiber.interruptFork(second))
      yield* Fiber.join(first)
      yield* Fiber.join(third)
      assert.isTrue((yield* seen).has("c@example.com"))
    }).pipe(onDatabase())
  )

  it.effect("are on disk before a statement that belongs to no change", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const writing = yield* Effect.fork(person("a@example.com"))
      yield* Effect.yieldNow()
      yield* sql.unsafe("PRAGMA wal_checkpoint(TRUNCATE)")
      yield* Fiber.join(writing)
      assert.isTrue((yield* seen).has("a@example.com"))
    }).pipe(onDatabase())
  )
})
