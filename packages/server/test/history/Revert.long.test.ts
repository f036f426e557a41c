import type { History } from "@coffer/server/secrets/services/History"
import { type PreparedRevert, type RevertRequest, Revisions } from "@coffer/server/secrets/services/Revisions"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import {
  entries,
  isOnPostgres,
  organization,
  outcome,
  readBundle,
  removeSecret,
  type Services,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import {
  changeEntries,
  destroy,
  enterFor,
  everything,
  listRevisions,
  onDamagedHistory,
  onHistory,
  revert,
  undelete
} from "./Support.js"

const valuesOf = (actor: Parameters<typeof readBundle>[0]) =>
  Effect.map(readBundle(actor), ({ data }): Readonly<Record<string, string>> =>
    Object.fromEntries((data ?? []).map(({ key, value }) => [key, value]))
  )

const numbered = (prefix: string, text: string) =>
  Object.fromEntries(Array.makeBy(2_000, (n) => [`${prefix}${n}`, `${text}${n}`]))

describe("a revert", () => {
  it.effect("takes a bulk change back in one revision, and is taken back itself", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "GONE", "was here")
      yield* writeBundle(ada, { set: { A: "1", B: "2", SAME: "same" } })
      const before = yield* valuesOf(ada)
      yield* writeBundle(ada, { set: { A: "overwritten", NEW: "new" }, delete: ["GONE"] })
      const after = yield* valuesOf(ada)
      const told = (yield* entries()).length

      const data = [
        { key: "A", version: 3, change: "updated" },
        { key: "B", version: 1, change: "unchanged" },
        { key: "GONE", version: 1, change: "created" },
        { key: "NEW", version: 1, change: "deleted" },
        { key: "SAME", version: 1, change: "unchanged" }
      ]
      const untouched = yield* everything
      assert.deepStrictEqual<unknown>(yield* revert(ada, 2, { dryRun: true }), { revision: 3, data })
      assert.deepStrictEqual(yield* everything, untouched)
      assert.deepStrictEqual<unknown>(yield* revert(ada, 2), { revision: 4, data })
      assert.deepStrictEqual(yield* valuesOf(ada), before)
      const found = (yield* entries()).slice(told).filter(({ action }) => action !== "secret.read")
      assert.deepStrictEqual(
        found.map(({ action, metadata, resource_type }) => [action, resource_type, metadata]),
        [
          ["env.revert", "env", { project: "webshop", env: "prod", to: 2, revision: 4 }],
          ["secret.set", "secret", { project: "webshop", env: "prod", key: "A", version: 3, reverted_to: 2 }],
          ["secret.set", "secret", { project: "webshop", env: "prod", key: "GONE", version: 1, reverted_to: 2 }],
          ["secret.delete", "secret", { project: "webshop", env: "prod", key: "NEW", version: 1 }]
        ]
      )

      yield* revert(ada, 3)
      assert.deepStrictEqual(yield* valuesOf(ada), after)
      yield* revert(ada, 0)
      assert.deepStrictEqual(yield* valuesOf(ada), {})
      yield* revert(ada, 4)
      assert.deepStrictEqual(yield* valuesOf(ada), before)
    }).pipe(onHistory)
  )

  it.effect("to the present state writes nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one")
      yield* setSecret(ada, "A", "two")
      yield* setSecret(ada, "A", "one")
      const before = yield* everything
      for (const to of [3, 1]) {
        const answer = yield* revert(ada, to)
        assert.deepStrictEqual<unknown>(answer, { revision: 3, data: [{ key: "A", version: 3, change: "unchanged" }] })
      }
      assert.deepStrictEqual(yield* everything, before)
    }).pipe(onHistory)
  )

  it.effect("knows what was deleted and undeleted in between", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one")
      yield* removeSecret(ada, "A")
      yield* undelete(ada, "A")
      yield* removeSecret(ada, "A")
      yield* setSecret(ada, "A", "another life")
      for (const [to, wanted] of [{}, { A: "one" }, {}, { A: "one" }, {}, { A: "another life" }].entries()) {
        yield* revert(ada, to)
        assert.deepStrictEqual(yield* valuesOf(ada), wanted, `revision ${to}`)
      }
    }).pipe(onHistory)
  )

  it.effect("to a destroyed value is refused, names the keys, and changes nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "leaked", B: "leaked too", C: "fine" } })
      yield* writeBundle(ada, { set: { A: "new", B: "new", C: "new" } })
      yield* destroy(ada, "B", [1])
      yield* destroy(ada, "A", [1])
      const before = yield* everything
      for (const dryRun of [true, false]) {
        const refused = yield* Effect.flip(revert(ada, 1, { dryRun }))
        assert.strictEqual(refused._tag, "Conflict")
        assert.match(refused.message, /^revision 1 of environment prod .* were destroyed: A, B$/)
      }
      assert.deepStrictEqual(yield* everything, before)
      yield* revert(ada, 0)
      yield* revert(ada, 2)
      assert.deepStrictEqual(yield* valuesOf(ada), { A: "new", B: "new", C: "new" })
    }).pipe(onHistory)
  )

  it.effect("to a missing revision is refused, and so is one by an ETag of another state", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one")
      const { etag } = yield* readBundle(ada)
      yield* setSecret(ada, "A", "two")
      const before = yield* everything
      const missing = yield* Effect.flip(revert(ada, 3))
      assert.deepStrictEqual([missing._tag, missing.message], [
        "NotFound",
        "revision 3 of environment prod does not exist: the latest is 2"
      ] as const)
      assert.strictEqual((yield* Effect.flip(revert(ada, 1, { ifMatch: etag })))._tag, "Conflict")
      assert.deepStrictEqual(yield* everything, before)
      yield* revert(ada, 1, { ifMatch: (yield* readBundle(ada)).etag })
    }).pipe(onHistory)
  )

  it.effect("of a secret that was set back in the file is refused", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two"]) yield* setSecret(ada, "A", text)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE secrets SET version = 1`
      for (const to of [0, 1, 2]) {
        assert.strictEqual((yield* Effect.flip(revert(ada, to)))._tag, "DecryptionFailed", `revision ${to}`)
      }
    }).pipe(onDamagedHistory)
  )

  // On PostgreSQL, statements never block the event loop.
  it.live.skipIf(isOnPostgres())(
    "of everything that fits lets others have their turn",
    () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* writeBundle(ada, { set: numbered("A", "first ") })
        yield* writeBundle(ada, { delete: Object.keys(numbered("A", "")) })
        yield* writeBundle(ada, { set: numbered("B", "second ") })
        let turns = 0
        const count = () => {
          turns++
          next = setImmediate(count)
        }
        let next = setImmediate(count)
        const { data } = yield* revert(ada, 1)
        clearImmediate(next)
        assert.lengthOf(data, 4_000)
        // 2,000 values are opened, and 4,000 keys looked at and written, at most 100 between two turns.
        assert.isAtLeast(turns, 90)
        assert.deepStrictEqual(yield* valuesOf(ada), numbered("A", "first "))
        assert.deepStrictEqual(
          (yield* listRevisions(ada)).map(({ keys, revision }) => [revision, keys.length]),
          [[4, 4_000]]
        )
        assert.deepStrictEqual(
          (yield* listRevisions(ada, { before: 4 })).map(({ keys, revision }) => [revision, keys.length]),
          [
            [3, 2_000],
            [2, 2_000]
          ]
        )
        assert.deepStrictEqual(
          (yield* listRevisions(ada, { before: 2 })).map(({ keys, revision }) => [revision, keys.length]),
          [[1, 2_000]]
        )
      }).pipe(onHistory),
    120_000
  )

  it.effect("is not possible before an undelete that was not recorded", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["1", "2", "3"]) yield* setSecret(ada, "A", text)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO secret_changes_since (env_id, revision) SELECT id, 2 FROM environments WHERE name = 'prod'`
      const before = (yield* changeEntries).length
      const refused = yield* Effect.flip(revert(ada, 1))
      assert.strictEqual(refused._tag, "Conflict")
      assert.match(refused.message, /^revision 1 of environment prod cannot be made again: .* before revision 2$/)
      assert.lengthOf(yield* changeEntries, before)
      yield* revert(ada, 2)
      assert.deepStrictEqual(yield* valuesOf(ada), { A: "2" })
      yield* revert(ada, 0)
      assert.deepStrictEqual(yield* valuesOf(ada), {})
    }).pipe(onHistory)
  )
})

const large = (text: string) => Object.fromEntries(Array.makeBy(60, (n) => [`KEY_${n}`, `${text} ${n}`]))

/** An environment with 60 secrets, all of them with a second version; and a revert to the first ones, in two parts. */
const prepared = Effect.gen(function* () {
  const ada = yield* organization()
  yield* writeBundle(ada, { set: large("first") })
  yield* writeBundle(ada, { set: large("second") })
  const revisions = yield* Revisions
  const entering = enterFor(ada, "secret.write")
  const prepare = (request: RevertRequest = { to: 1 }) => Effect.scoped(revisions.prepare(entering, request))
  const apply = (plan: PreparedRevert | null, request: RevertRequest = { to: 1 }) =>
    transaction(
      Effect.flatMap(entering, (place) =>
        Effect.map(revisions.revert(place, request, undefined, plan), ({ written }) => written)
      )
    )
  return { ada, prepare, apply }
})

describe("a page of revisions", () => {
  it.effect("has as many as are asked for, whole, also across one that an earlier server did not record", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["1", "2", "3", "4"]) yield* writeBundle(ada, { set: { A: text, B: text } })
      yield* (yield* SqlClient.SqlClient)`DELETE FROM secret_changes WHERE revision = 3`
      const page = (options: { readonly limit?: number; readonly before?: number }) =>
        Effect.map(listRevisions(ada, options), (all) =>
          all.map(({ keys, revision }) => [revision, ...keys.map(({ key }) => String(key))])
        )
      const whole = (revision: number) => [revision, "A", "B"]
      assert.deepStrictEqual(yield* page({}), [4, 2, 1].map(whole))
      assert.deepStrictEqual(yield* page({ limit: 2 }), [4, 2].map(whole))
      assert.deepStrictEqual(yield* page({ limit: 2, before: 4 }), [2, 1].map(whole))
      assert.deepStrictEqual(yield* page({ before: 1 }), [])
    }).pipe(onDamagedHistory)
  )
})

describe("a large revert encrypted before its transaction", () => {
  it.effect("stores what was encrypted", () =>
    Effect.gen(function* () {
      const { ada, apply, prepare } = yield* prepared
      const plan = (yield* prepare()) ?? assert.fail("not prepared")
      assert.strictEqual((yield* apply(plan)).revision, 3)
      assert.deepStrictEqual(yield* valuesOf(ada), large("first"))
      const sql = yield* SqlClient.SqlClient
      const stored = yield* sql<{ key: string; ciphertext: Uint8Array }>`
        SELECT s.key AS key, v.ciphertext AS ciphertext
        FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = 3`
      const hex = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString("hex")
      assert.deepStrictEqual(
        new Map(stored.map(({ ciphertext, key }) => [key, hex(ciphertext)])),
        new Map(
          plan.draft.steps.map((step) => [
            String(step.key),
            hex(step.change === "updated" ? step.sealed?.ciphertext : null)
          ])
        )
      )
    }).pipe(onHistory)
  )

  it.effect("is planned again if the environment changes before it", () =>
    Effect.gen(function* () {
      const { ada, apply, prepare } = yield* prepared
      const plan = yield* prepare()
      yield* setSecret(ada, "KEY_3", "third")
      yield* setSecret(ada, "NEW", "third")
      assert.strictEqual((yield* apply(plan)).revision, 5)
      assert.deepStrictEqual(yield* valuesOf(ada), large("first"))
    }).pipe(onHistory)
  )

  it.effect("is refused if a value is destroyed before it, which makes no revision", () =>
    Effect.gen(function* () {
      const { ada, apply, prepare } = yield* prepared
      const plan = yield* prepare()
      yield* destroy(ada, "KEY_3", [1])
      const before = yield* everything
      const refused = yield* Effect.flip(apply(plan))
      assert.strictEqual(refused._tag, "Conflict")
      assert.match(refused.message, /destroyed: KEY_3$/)
      assert.deepStrictEqual(yield* everything, before)
    }).pipe(onHistory)
  )

  it.effect("is not used for another revision, nor for a dry run; and a small one is not prepared", () =>
    Effect.gen(function* () {
      const { ada, apply, prepare } = yield* prepared
      const plan = yield* prepare()
      assert.deepStrictEqual((yield* apply(plan, { to: 2 })).revision, 2)
      const tried = { to: 1, dry_run: true }
      assert.strictEqual((yield* apply(yield* prepare(tried), tried)).revision, 2)
      assert.deepStrictEqual(yield* valuesOf(ada), large("second"))
      yield* setSecret(ada, "KEY_3", "third")
      assert.isNull(yield* prepare({ to: 2 }))
    }).pipe(onHistory)
  )

  it.live("never brings back a value destroyed at the same time", () =>
    Effect.gen(function* () {
      const { ada, apply, prepare } = yield* prepared
      for (let round = 0; round < 6; round++) {
        const { data } = yield* writeBundle(ada, { set: large(`old ${round}`) })
        const { revision } = yield* writeBundle(ada, { set: large(`new ${round}`) })
        const old = data.find(({ key }) => key === "KEY_1")?.version ?? assert.fail("no version")
        const request = { to: revision - 1 }
        const told = (yield* changeEntries).length
        const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, Services | History | Revisions>> =
          [
            Effect.flatMap(prepare(request), (plan) => apply(plan, request)),
            Effect.delay(destroy(ada, "KEY_1", [old]), `${round * 10} millis`)
          ]
        const [reverted, destroyed] = yield* Effect.all(calls.map(outcome), { concurrency: "unbounded" })
        assert.strictEqual(destroyed, "success")
        const [first] = (yield* changeEntries).slice(told)
        const isRevertFirst = first?.action === "env.revert"
        assert.strictEqual(reverted, isRevertFirst ? "success" : "Conflict")
        assert.strictEqual((yield* valuesOf(ada)).KEY_1, `${isRevertFirst ? "old" : "new"} ${round} 1`)
      }
    }).pipe(onHistory)
  )
})
