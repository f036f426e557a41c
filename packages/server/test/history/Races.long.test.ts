import type { Actor } from "@coffer/domain/access/Actor"
import type { History } from "@coffer/server/secrets/services/History"
import type { Promotion } from "@coffer/server/secrets/services/Promotion"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import {
  envPath,
  isOnPostgres,
  key,
  listSecrets,
  organization,
  outcome,
  raw,
  readBundle,
  readSecret,
  removeSecret,
  type Services,
  setSecret,
  writeBundle
} from "../support/Services.js"
import {
  changeEntries,
  comparing,
  copy,
  listVersions,
  onDamagedHistory,
  onHistory,
  rollback,
  undelete
} from "./Support.js"

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
      // A deleted secret is not there to be rolled back or deleted.
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

describe("changes of all kinds in one environment at the same time", () => {
  it.live("each make a revision of their own, and leave totals that are the sums", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two"]) {
        for (const name of ["A", "B", "C"]) yield* setSecret(ada, name, text)
      }
      yield* setSecret(ada, "GONE", "gone")
      yield* removeSecret(ada, "GONE")
      yield* setSecret(ada, "COPIED", "staged", { path: envPath("staging") })
      const { revision: before = 0 } = yield* readBundle(ada)
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, Services | History | Promotion>> = [
        ...["A", "D", "E"].map((name) => setSecret(ada, name, "set")),
        ...["F", "G"].map((name) => writeBundle(ada, { set: { [name]: "written", A: name } })),
        removeSecret(ada, "B"),
        rollback(ada, "C", 1),
        undelete(ada, "GONE"),
        copy(ada, { from: "staging", to: "prod" }),
        copy(ada, { from: "prod", to: "staging" }, { keys: ["C"] })
      ]
      const outcomes = yield* Effect.all(calls.map(outcome), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        outcomes,
        calls.map(() => "success")
      )
      // The last call changes the other environment.
      assert.strictEqual((yield* readBundle(ada)).revision, before + calls.length - 1)
      assert.deepStrictEqual(
        (yield* listSecrets(ada)).map(({ key }) => String(key)),
        ["A", "C", "COPIED", "D", "E", "F", "G", "GONE"]
      )
    }).pipe(onHistory)
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
