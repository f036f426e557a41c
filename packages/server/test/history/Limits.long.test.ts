import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Exit } from "effect"
import {
  DatabasePlace,
  envPath,
  failing,
  invariantsIn,
  organization,
  outcome,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import { copy, destroy, everything, listVersions, onHistory, revert, rollback, undelete } from "./Support.js"

const dev = { path: envPath("dev") }

describe("a full environment", () => {
  it.effect("of 2,000 secrets takes no copy and no return of one more, and is as it was", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "GONE", "x")
      yield* removeSecret(ada, "GONE")
      yield* writeBundle(ada, { set: Object.fromEntries(Array.makeBy(2_000, (n) => [`K${n}`, ""])) })
      yield* writeBundle(ada, { set: { K0: "new", MORE: "" } }, dev)
      const before = yield* everything
      assert.strictEqual(yield* outcome(undelete(ada, "GONE")), "LimitExceeded")
      assert.strictEqual(yield* outcome(copy(ada, { from: "dev", to: "prod" })), "LimitExceeded")
      assert.strictEqual(yield* outcome(copy(ada, { from: "dev", to: "prod" }, { dry_run: true })), "LimitExceeded")
      assert.deepStrictEqual(yield* everything, before)
      yield* copy(ada, { from: "dev", to: "prod" }, { keys: ["K0"] })
      yield* rollback(ada, "K0", 1)
      yield* removeSecret(ada, "K1")
      yield* undelete(ada, "GONE")
    }).pipe(onHistory)
  )

  it.effect("of 8 MiB takes no copy, rollback or return that makes it more, and is as it was", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const full = "x".repeat(65_536)
      yield* setSecret(ada, "GONE", "xx")
      yield* removeSecret(ada, "GONE")
      yield* setSecret(ada, "K0", full)
      yield* setSecret(ada, "K0", "")
      yield* writeBundle(ada, {
        set: Object.fromEntries(Array.makeBy(128, (n) => [`K${n + 1}`, n === 0 ? full.slice(1) : full]))
      })
      yield* writeBundle(ada, { set: { K0: "xx", MORE: "x" } }, dev)
      const before = yield* everything
      assert.strictEqual(yield* outcome(rollback(ada, "K0", 1)), "LimitExceeded")
      assert.strictEqual(yield* outcome(undelete(ada, "GONE")), "LimitExceeded")
      assert.strictEqual(yield* outcome(copy(ada, { from: "dev", to: "prod" })), "LimitExceeded")
      assert.strictEqual(yield* outcome(copy(ada, { from: "dev", to: "prod" }, { keys: ["K0"] })), "LimitExceeded")
      assert.deepStrictEqual(yield* everything, before)
      yield* copy(ada, { from: "dev", to: "prod" }, { keys: ["MORE"] })
      yield* rollback(ada, "K1", 1)
      yield* removeSecret(ada, "K2")
      yield* rollback(ada, "K0", 1)
      yield* removeSecret(ada, "K3")
      yield* undelete(ada, "GONE")
    }).pipe(onHistory)
  )
})

/** Fails one statement after the other of a call, each on secrets of its own, until the call gets through. */
const eachStatementFails = <E, R, E2, R2, E3, R3>(
  prepare: (name: string) => Effect.Effect<unknown, E, R>,
  call: (name: string) => Effect.Effect<unknown, E2, R2>,
  done: (name: string) => Effect.Effect<boolean, E3, R3>,
  entriesOf: number
) =>
  Effect.gen(function* () {
    const place = yield* DatabasePlace
    const seen = { undone: 0, done: 0 }
    for (let at = 1; ; at++) {
      const name = `K${at}`
      yield* prepare(name)
      const before = yield* everything
      const { exit, hit } = yield* failing(at, call(name))
      const after = yield* everything
      yield* invariantsIn(place)
      if (yield* done(name)) {
        seen.done++
        // The audit alone may fail, and then all of its entries are missing.
        assert.include([0, entriesOf], after.entries.length - before.entries.length)
      } else {
        seen.undone++
        assert.isTrue(Exit.isFailure(exit), `statement ${at}`)
        assert.deepStrictEqual(after, before, `statement ${at}`)
      }
      if (!hit) {
        assert.isTrue(Exit.isSuccess(exit))
        assert.strictEqual(after.entries.length - before.entries.length, entriesOf)
        break
      }
    }
    assert.isAbove(seen.undone, 2)
    assert.isAbove(seen.done, 1)
  })

describe("on a disk that fails at any statement", () => {
  it.effect("a rollback is done or not", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* eachStatementFails(
        (name) => Effect.forEach(["one", "two"], (text) => setSecret(ada, name, text)),
        (name) => rollback(ada, name, 1),
        (name) => Effect.map(readSecret(ada, name), ({ value, version }) => version === 3 && value === "one"),
        1
      )
    }).pipe(onHistory)
  )

  it.effect("a return is done or not", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* eachStatementFails(
        (name) => Effect.zipRight(setSecret(ada, name, "one"), removeSecret(ada, name)),
        (name) => undelete(ada, name),
        (name) => Effect.map(outcome(readSecret(ada, name)), (how) => how === "success"),
        1
      )
    }).pipe(onHistory)
  )

  it.effect("versions are all destroyed or all kept", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* eachStatementFails(
        (name) => Effect.forEach(["one", "two", "three"], (text) => setSecret(ada, name, text)),
        (name) => destroy(ada, name, [1, 2]),
        (name) =>
          Effect.map(listVersions(ada, name), (versions) => {
            const destroyed = versions.map((version) => version.destroyed).join()
            assert.include(["false,true,true", "false,false,false"], destroyed)
            return destroyed === "false,true,true"
          }),
        2
      )
    }).pipe(onHistory)
  )

  it.effect("a revert is done whole or not", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      let to = 0
      yield* eachStatementFails(
        (name) =>
          Effect.gen(function* () {
            to = (yield* writeBundle(ada, { set: { [name]: "one", UPDATED: name } })).revision
            yield* writeBundle(ada, { set: { UPDATED: "other" }, delete: [name] })
          }),
        () => revert(ada, to),
        (name) =>
          Effect.gen(function* () {
            const updated = (yield* readSecret(ada, "UPDATED")).value === name
            assert.strictEqual((yield* outcome(readSecret(ada, name))) === "success", updated)
            return updated
          }),
        3
      )
    }).pipe(onHistory)
  )

  it.effect("a copy is done whole or not", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* eachStatementFails(
        (name) =>
          Effect.zipRight(
            writeBundle(ada, { set: { [name]: "one", UPDATED: name } }, dev),
            writeBundle(ada, { set: { UPDATED: "other" } })
          ),
        (name) => copy(ada, { from: "dev", to: "prod" }, { keys: [name, "UPDATED"] }),
        (name) =>
          Effect.gen(function* () {
            const updated = (yield* readSecret(ada, "UPDATED")).value === name
            assert.strictEqual((yield* outcome(readSecret(ada, name))) === "success", updated)
            return updated
          }),
        2
      )
    }).pipe(onHistory)
  )
})
