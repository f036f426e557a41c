import type { Actor } from "@coffer/domain/Actor"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import {
  envPath,
  isOnPostgres,
  key,
  organization,
  outcome,
  raw,
  readBundle,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import { changeEntries, comparing, listVersions, onDamagedHistory, onHistory, rollback } from "./Support.js"

/** The writes that are guarded by what their writer has seen of secret A at version 3. */
const writers = {
  "a PUT": (actor: Actor) => setSecret(actor, "A", "put", { expected: 3 }),
  "a DELETE": (actor: Actor) => removeSecret(actor, "A", { expected: 3 }),
  "a PATCH": (actor: Actor, etag: string) => writeBundle(actor, { set: { A: "patched" } }, { ifMatch: etag }),
  "a PATCH that deletes": (actor: Actor, etag: string) => writeBundle(actor, { delete: ["A"] }, { ifMatch: etag }),
  "a rollback": (actor: Actor) => rollback(actor, "A", 1, { expected: 3 })
}
type Writer = keyof typeof writers

const values: Readonly<Record<Writer, string | undefined>> = {
  "a PUT": "put",
  "a DELETE": undefined,
  "a PATCH": "patched",
  "a PATCH that deletes": undefined,
  "a rollback": "one"
}
const names = Object.keys(writers) as ReadonlyArray<Writer>

/** Lets writers go at once against the same state; tells which won, and that what is there is what it wrote. */
const race = (contenders: ReadonlyArray<Writer>) =>
  Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
    const { etag } = yield* readBundle(ada)
    const before = (yield* changeEntries).length
    const calls = contenders.map((name) => {
      const call: Effect.Effect<
        unknown,
        { readonly _tag: string },
        Effect.Effect.Context<ReturnType<(typeof writers)[Writer]>>
      > = writers[name](ada, etag)
      return outcome(call)
    })
    const outcomes = yield* Effect.all(calls, { concurrency: "unbounded" })
    const won = outcomes.flatMap((how, index) => (how === "success" ? [index] : []))
    assert.lengthOf(won, 1, outcomes.join(", "))
    const winner = contenders[won[0]!]!
    const wanted = values[winner]
    for (const [index, how] of outcomes.entries()) {
      // What is deleted is not there to be rolled back or deleted.
      if (index !== won[0]) assert.include(wanted === undefined ? ["Conflict", "NotFound"] : ["Conflict"], how)
    }
    assert.strictEqual((yield* readBundle(ada)).revision, 4)
    assert.lengthOf(yield* changeEntries, before + 1)
    if (wanted === undefined) {
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
    } else {
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 4, value: wanted })
      assert.lengthOf(yield* listVersions(ada, "A"), 4)
    }
    return won[0]!
  }).pipe(onHistory)

describe("of two writers that expect the same version", () => {
  for (const [index, first] of names.entries()) {
    for (const second of names.slice(index)) {
      it.live(`one wins: ${first} and ${first === second ? "another" : second}`, () => race([first, second]))
    }
  }
})

describe("of many writers of all kinds that expect the same version", () => {
  it.live("one wins, whichever comes first", () =>
    Effect.gen(function* () {
      const winners = new Set<Writer>()
      for (const [index] of names.entries()) {
        const order = [...names.slice(index), ...names.slice(0, index)]
        const contenders = [...order, ...order]
        winners.add(contenders[yield* race(contenders)]!)
      }
      assert.isAbove(winners.size, 1)
    })
  )
})

describe("a comparison of two environments", () => {
  it.effect.skipIf(isOnPostgres())("is of one moment, whatever is committed between its reads", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const env of ["prod", "staging"]) yield* setSecret(ada, "A", "x", { path: envPath(env) })
      const compare = yield* comparing(ada, "prod", "staging")
      const db = yield* raw
      let reads = 0
      const { result } = yield* statementsOf(compare, ({ text }) => {
        if (!/^SELECT .* FROM environments e JOIN secrets s/s.test(text) || ++reads !== 2) return
        db.exec("UPDATE secrets SET removed_at = created_at, removed_revision = 1")
      })
      assert.isAtLeast(reads, 2)
      assert.deepStrictEqual(result.data, [{ key: key("A"), status: "same" }])
      assert.deepStrictEqual((yield* compare).data, [])
    }).pipe(onDamagedHistory)
  )
})
