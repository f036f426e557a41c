import { nextTick } from "@coffer/server/base/EventLoop"
import { afterCommit, afterwards, Database } from "@coffer/server/database/Database"
import { orgScope, userScope } from "@coffer/server/database/Scopes"
import { isUniqueViolation } from "@coffer/server/database/SqlErrors"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { OrgId, UserId } from "@coffer/domain/base/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import { add, defectOf, names, transaction } from "../postgres/Support.js"
import { settingsOf } from "../support/postgres/Databases.js"
import { configAt, freshPlace, layerIn } from "../support/Services.js"

const portOf = Layer.map((context: Context.Context<Database>) => Context.make(Database, Context.get(context, Database)))

const databaseIn = layerIn(
  (path) => portOf(Layer.provide(DatabaseLive, configAt(path))),
  (url) => portOf(Layer.scopedContext(postgresDatabase(settingsOf(url, { connections: 4 }))))
)

/** Runs a test on a database of the project's engine alone: what the port promises, both engines keep. */
const onPort = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(freshPlace, (place) => Effect.provide(test, databaseIn(place))).pipe(Effect.scoped)

const org = orgScope(OrgId.make("0192f0c1-5b7e-7c3a-9d2e-000000000001"))
const other = orgScope(OrgId.make("0192f0c1-5b7e-7c3a-9d2e-000000000002"))
const user = userScope(UserId.make("0192f0c1-5b7e-7c3a-9d2e-000000000003"))

describe("a transaction", () => {
  it.live("is kept when it succeeds, and leaves nothing when it fails or is interrupted", () =>
    Effect.gen(function* () {
      yield* transaction(add("kept"))
      assert.deepStrictEqual(
        yield* Effect.exit(transaction(Effect.zipRight(add("a"), Effect.fail("no")))),
        Exit.fail("no")
      )
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        transaction(add("b").pipe(Effect.zipRight(Deferred.succeed(begun, undefined)), Effect.zipRight(Effect.never)))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* names, ["kept"])
    }).pipe(onPort)
  )

  it.live("nests: an inner one that fails leaves nothing, before and after others that stay", () =>
    Effect.gen(function* () {
      const failing = (id: string) => transaction(Effect.zipRight(add(id), Effect.fail("no"))).pipe(Effect.ignore)
      yield* transaction(
        Effect.gen(function* () {
          yield* failing("a")
          yield* transaction(
            Effect.gen(function* () {
              yield* add("b")
              yield* failing("c")
              yield* transaction(add("d"))
              yield* failing("e")
            })
          )
          yield* failing("f")
          yield* add("g")
        })
      )
      assert.deepStrictEqual(yield* names, ["b", "d", "g"])
    }).pipe(onPort)
  )

  it.live("goes on after a refused statement only behind the savepoint before it", () =>
    Effect.gen(function* () {
      const refused = Effect.sandbox(transaction(Effect.zipRight(add("b"), add("a")))).pipe(Effect.flip)
      const cause = yield* transaction(add("a").pipe(Effect.zipRight(refused), Effect.zipLeft(add("c"))))
      assert.isTrue(isUniqueViolation(Option.getOrUndefined(Cause.dieOption(cause))))
      assert.deepStrictEqual(yield* names, ["a", "c"])
      // Without a savepoint the whole is rolled back: the caller must not take that for a success.
      const swallowed = yield* Effect.exit(transaction(Effect.zipRight(add("d"), Effect.exit(add("a")))))
      assert.isTrue(isUniqueViolation(defectOf(swallowed)))
      assert.deepStrictEqual(yield* names, ["a", "c"])
    }).pipe(onPort)
  )

  it.live("loses nothing to a part of another transaction that a fiber undoes after its end", () =>
    Effect.gen(function* () {
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const waiting = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(go))
      const late = transaction(Effect.zipRight(waiting, Effect.fail("no")))
      const fiber = yield* transaction(Effect.zipLeft(Effect.forkDaemon(late), Deferred.await(begun)))
      const undoing = Effect.zipRight(Deferred.succeed(go, undefined), Fiber.await(fiber))
      yield* transaction(
        add("a").pipe(
          Effect.zipRight(transaction(Effect.zipRight(add("b"), undoing))),
          Effect.zipRight(transaction(add("c")))
        )
      )
      assert.deepStrictEqual(yield* names, ["a", "b", "c"])
    }).pipe(onPort)
  )

  it.live("appends what was queued last, without what was rolled back", () =>
    Effect.gen(function* () {
      const { beforeCommit } = yield* Database
      const batches: Array<ReadonlyArray<string>> = []
      const queue = beforeCommit<string>((items) =>
        Effect.zipRight(
          Effect.sync(() => batches.push(items)),
          Effect.orDie(Effect.provide(Effect.forEach(items, add, { discard: true }), context))
        )
      )
      const context = yield* Effect.context<Database>()
      yield* transaction(
        Effect.gen(function* () {
          yield* queue("first")
          yield* Effect.ignore(transaction(Effect.zipRight(queue("dropped"), Effect.fail("no"))))
          yield* transaction(queue("second"))
          assert.deepStrictEqual(yield* names, [])
        })
      )
      yield* Effect.exit(transaction(Effect.zipRight(queue("lost"), Effect.fail("no"))))
      assert.deepStrictEqual(batches, [["first", "second"]])
      assert.deepStrictEqual(yield* names, ["first", "second"])
    }).pipe(onPort)
  )

  it.live("runs its hooks when it has ended and its connection is free, those after a commit only then", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const context = yield* Effect.context<Database>()
      const note = (name: string) =>
        Effect.flatMap(names, (found) => Effect.sync(() => seen.push(`${name}: ${found.join(" ")}`))).pipe(
          Effect.provide(context),
          Effect.asVoid
        )
      yield* transaction(
        Effect.gen(function* () {
          yield* add("a")
          yield* afterCommit(note("commit"))
          yield* afterwards(note("end"))
          yield* Effect.ignore(
            transaction(
              Effect.all([afterCommit(note("no")), afterwards(note("part")), Effect.fail("no")], { discard: true })
            )
          )
        })
      )
      yield* Effect.exit(
        transaction(Effect.all([afterCommit(note("no")), afterwards(note("rolled back")), Effect.fail("no")]))
      )
      assert.deepStrictEqual(seen, ["commit: a", "end: a", "part: a", "rolled back: a"])
    }).pipe(onPort)
  )

  it.live("is awaited while more of them want a connection than there are", () =>
    Effect.gen(function* () {
      const { isAwaited } = yield* Database
      assert.isFalse(isAwaited())
      const open = yield* Effect.makeLatch()
      const waiting = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.fork(transaction(open.await)))
      yield* nextTick.pipe(Effect.repeat({ until: isAwaited }))
      yield* open.open
      yield* Fiber.joinAll(waiting)
      assert.isFalse(isAwaited())
    }).pipe(onPort)
  )
})

describe("a change", () => {
  it.live("runs while no other change of its scope runs, and reads what those before it wrote", () =>
    Effect.gen(function* () {
      const { change } = yield* Database
      let running = 0
      const counting = (index: number) =>
        change(
          [user, org],
          Effect.gen(function* () {
            assert.strictEqual(++running, 1)
            const found = yield* names
            yield* add(`${String(index)} after ${String(found.length)}`)
            yield* Effect.yieldNow()
            running--
            return found.length
          })
        )
      const counts = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], counting, { concurrency: "unbounded" })
      assert.sameMembers([...counts], [0, 1, 2, 3, 4, 5, 6, 7])
    }).pipe(onPort)
  )

  it.live("that fails or is interrupted, also while it waits, leaves nothing and gives its scopes back", () =>
    Effect.gen(function* () {
      const { change } = yield* Database
      const [held, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* Effect.fork(
        Effect.exit(
          change(
            [org],
            Effect.all([add("held"), Deferred.succeed(held, undefined), Deferred.await(go), Effect.fail("no")])
          )
        )
      )
      yield* Deferred.await(held)
      const waiting = yield* Effect.fork(change([org], add("waited")))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(waiting).pipe(Effect.fork)
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(holder), Exit.fail("no"))
      yield* Fiber.await(waiting)
      yield* change([org], add("later"))
      assert.deepStrictEqual(yield* names, ["later"])
    }).pipe(onPort)
  )

  it.live("within another is a part of it, if that holds its scopes, and dies otherwise", () =>
    Effect.gen(function* () {
      const { change } = yield* Database
      yield* change([org, user], Effect.all([change([user], add("a")), change([], add("b"))]))
      const exit = yield* Effect.exit(change([org], Effect.zipRight(add("c"), change([other], add("d")))))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      const alone = yield* Effect.exit(transaction(change([org], add("e"))))
      assert.isTrue(Exit.isFailure(alone) && Cause.isDie(alone.cause))
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }).pipe(onPort)
  )
})

describe("a snapshot", () => {
  it.live("sees no change that came later, and reads outside see a change when it is committed", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* Database
      const [written, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const writer = yield* Effect.fork(
        transaction(Effect.all([add("a"), Deferred.succeed(written, undefined), Deferred.await(go)], { discard: true }))
      )
      yield* Deferred.await(written)
      const found = yield* snapshot(
        Effect.gen(function* () {
          const before = yield* names
          yield* Deferred.succeed(go, undefined)
          yield* Fiber.join(writer)
          return [before, yield* names]
        })
      )
      assert.deepStrictEqual([...found, yield* names], [[], [], ["a"]])
    }).pipe(onPort)
  )

  it.live("within a change is the change: it sees its writes, and nothing that others write under its scopes", () =>
    Effect.gen(function* () {
      const { change, snapshot } = yield* Database
      const begun = yield* Deferred.make<void>()
      const waiter = yield* Effect.fork(Effect.zipRight(Deferred.await(begun), change([org], add("waiter"))))
      const found = yield* change(
        [org],
        Effect.gen(function* () {
          yield* add("own")
          return yield* snapshot(
            Effect.gen(function* () {
              const before = yield* names
              yield* Deferred.succeed(begun, undefined)
              yield* Effect.sleep("50 millis")
              return [before, yield* names]
            })
          )
        })
      )
      assert.deepStrictEqual(found, [["own"], ["own"]])
      yield* Fiber.join(waiter)
      assert.deepStrictEqual(yield* names, ["own", "waiter"])
    }).pipe(onPort)
  )

  it.live("within a snapshot is that one", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* Database
      const found = yield* snapshot(
        Effect.gen(function* () {
          const before = yield* names
          yield* Effect.fork(transaction(add("later"))).pipe(Effect.flatMap(Fiber.join))
          return [before, yield* snapshot(names)]
        })
      )
      assert.deepStrictEqual(found, [[], []])
    }).pipe(onPort)
  )
})
