import { readdirSync } from "node:fs"
import { dirname } from "node:path"
import { Instance } from "@coffer/server/keys/Instance"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { DbPath, entries, raw } from "../support/Services.js"
import { FaultyStore, type Fault, type Operation } from "./FaultyStore.js"
import { createBackup, listBackups, noStrays, restoreBackup, withBackups } from "./Support.js"

const faultyStore = Effect.acquireRelease(
  Effect.promise(() => FaultyStore.start()),
  (store) => Effect.promise(() => store.close())
)

/** Runs a test with backups in a store that fails as it is told to. */
const onStore = <A, E, R>(test: (store: FaultyStore) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(faultyStore, (store) => withBackups(store.settings)(test(store))))

/**
 * Lets the clock run while a call waits for an answer that the store does not give, and at no other time: a slow machine must not
 * pass for a silent store. Tells how an effect ended, and how many seconds it took.
 */
const patiently = <A, E, R>(store: FaultyStore, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(Effect.either(effect))
    let seconds = 0
    let calls = -1
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 150)))
      if (store.pending.size > 0 && store.calls.length === calls) {
        seconds += 30
        yield* TestClock.adjust("30 seconds")
      }
      calls = store.calls.length
    }
    return { seconds, result: yield* Fiber.join(fiber) }
  })

const fails = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  store: FaultyStore,
  effect: Effect.Effect<A, E, R>,
  message: RegExp
) =>
  Effect.gen(function* () {
    const { result } = yield* patiently(store, effect)
    assert.isTrue(result._tag === "Left")
    if (result._tag === "Left") {
      assert.strictEqual(result.left._tag, "BackupFailed")
      assert.match(result.left.message, message)
      assert.notMatch(result.left.message, /access|secret|127\.0\.0\.1|bucket/)
    }
  })

/** Makes the database so large that its backup goes up in two parts. */
const enlarge = Effect.map(raw, (database) => {
  database.exec("CREATE TABLE filler (bytes BLOB) STRICT; INSERT INTO filler VALUES (randomblob(6000000))")
})

const faults: ReadonlyArray<readonly [Fault, RegExp]> = [
  [403, /AccessDenied, status 403/],
  [500, /InternalError, status 500/],
  ["reset", /ECONNRESET/],
  ["hang", /no response within 60 seconds/]
]

const nothingLeft = (store: FaultyStore) =>
  Effect.gen(function* () {
    assert.deepStrictEqual([...store.objects.keys()], [])
    assert.deepStrictEqual([...store.uploads.keys()], [])
    assert.deepStrictEqual(yield* noStrays, [])
    assert.notInclude(
      (yield* entries("system")).map(({ action }) => action),
      "backup.create"
    )
  })

describe("a store that fails", () => {
  for (const [fault, message] of faults) {
    it.effect(`while it takes a backup (${fault}) leaves nothing, and the next backup is made`, () =>
      onStore((store) =>
        Effect.gen(function* () {
          store.fault = (operation) => (operation === "put" ? fault : "none")
          yield* fails(store, createBackup, message)
          yield* nothingLeft(store)
          store.fault = () => "none"
          const backup = yield* createBackup
          assert.deepStrictEqual(yield* listBackups, [backup])
          yield* restoreBackup(backup.id)
        })
      )
    )

    it.effect(`while it takes the parts of a large one (${fault}) is left without them`, () =>
      onStore((store) =>
        Effect.gen(function* () {
          yield* enlarge
          const steps: ReadonlyArray<Operation> = fault === 403 ? ["begin", "part", "complete"] : ["part"]
          for (const step of steps) {
            store.calls.length = 0
            store.fault = (operation, count) => (operation === step && count > 1 ? fault : "none")
            // "begin" and "complete" are called once.
            if (step !== "part") store.fault = (operation) => (operation === step ? fault : "none")
            yield* fails(store, createBackup, message)
            yield* nothingLeft(store)
            assert.strictEqual(store.count("abort"), step === "begin" ? 0 : 1, step)
          }
        })
      )
    )

    it.effect(`whose answer alone is lost (${fault}) keeps no backup that was called failed`, () =>
      onStore((store) =>
        Effect.gen(function* () {
          store.worksDespiteFault = true
          store.fault = (operation) => (operation === "put" || operation === "complete" ? fault : "none")
          yield* fails(store, createBackup, message)
          yield* nothingLeft(store)
          yield* enlarge
          yield* fails(store, createBackup, message)
          yield* nothingLeft(store)
        })
      )
    )

    it.effect(`at everything (${fault}) ends every call, and leaves no file`, () =>
      onStore((store) =>
        Effect.gen(function* () {
          const backup = yield* createBackup
          store.fault = () => fault
          const calls = [
            Effect.asVoid(createBackup),
            Effect.asVoid(listBackups),
            Effect.asVoid(restoreBackup(backup.id))
          ]
          for (const ended of calls.map((call) =>
            patiently<void, unknown, Effect.Effect.Context<typeof call>>(store, call)
          )) {
            const { result, seconds } = yield* ended
            assert.strictEqual(result._tag, "Left")
            assert.isAtMost(seconds, 240)
            assert.deepStrictEqual(yield* noStrays, [])
          }
        })
      )
    )
  }

  for (const [fault, message] of [
    ...faults,
    ["cut", /ECONNRESET|aborted|ABORT/i],
    ["stall", /no response within/]
  ] as const) {
    it.effect(`while it gives a backup back (${fault}) leaves no file`, () =>
      onStore((store) =>
        Effect.gen(function* () {
          const backup = yield* createBackup
          store.fault = (operation) => (operation === "get" ? fault : "none")
          yield* fails(store, restoreBackup(backup.id), message)
          assert.deepStrictEqual(yield* noStrays, [])
          store.fault = () => "none"
          yield* restoreBackup(backup.id)
        })
      )
    )
  }

  it.effect("because nobody listens there is told as such", () =>
    Effect.gen(function* () {
      const store = yield* Effect.promise(() => FaultyStore.start())
      const { settings } = store
      yield* Effect.promise(() => store.close())
      yield* withBackups(settings)(
        Effect.gen(function* () {
          yield* fails(store, createBackup, /ECONNREFUSED/)
          yield* fails(store, listBackups, /ECONNREFUSED/)
          assert.deepStrictEqual(yield* noStrays, [])
        })
      )
    })
  )
})

describe("the store", () => {
  it.effect("is listed to its last page", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const made = yield* Effect.replicateEffect(createBackup, 5)
        store.objects.set("zzz", Buffer.alloc(1))
        assert.strictEqual((yield* listBackups).length, 5)
        assert.sameMembers(
          (yield* listBackups).map(({ id }) => id),
          made.map(({ id }) => id)
        )
        assert.isAtLeast(store.count("list"), 6)
      })
    )
  )

  it.effect("is rid of the uploads that a killed server left, but not of another instance's", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const { id } = yield* Instance
        store.uploads.set("own", { key: `${id}/left.bak`, parts: new Map() })
        yield* createBackup
        assert.strictEqual(store.count("uploads"), 1)
        assert.deepStrictEqual([...store.uploads.keys()], [])
      })
    )
  )

  it.effect("is sent nothing but what was read back and found sound, under a name below one folder", () =>
    onStore((store) =>
      Effect.gen(function* () {
        const { id } = yield* Instance
        const path = yield* DbPath
        yield* createBackup
        assert.deepStrictEqual(
          [...store.objects.keys()].map((name) => name.split("/")[0]),
          [id]
        )
        assert.notInclude(readdirSync(dirname(path)).join(), "backup")
      })
    )
  )

  it.effect("keeps nothing of an upload that the server's end cuts short", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const store = yield* faultyStore
        yield* withBackups(store.settings)(
          Effect.gen(function* () {
            yield* enlarge
            store.fault = (operation, count) => (operation === "part" && count === 2 ? "hang" : "none")
            yield* Effect.forkScoped(createBackup)
            yield* Effect.promise(() => store.called("part", 2))
          })
        )
        assert.deepStrictEqual([...store.uploads.keys()], [])
        assert.deepStrictEqual([...store.objects.keys()], [])
        assert.strictEqual(store.count("abort"), 1)
      })
    )
  )
})
