import type { Actor } from "@coffer/domain/access/Actor"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inspect } from "node:util"
import {
  account,
  entries,
  envPath,
  grant,
  member,
  organization,
  outcome,
  readBundle,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import {
  changeEntries,
  copy,
  destroy,
  diff,
  everything,
  listRevisions,
  listVersions,
  onHistory,
  revert,
  rollback,
  undelete
} from "./Support.js"

const levels = ["none", "read", "write", "admin"] as const
type Level = (typeof levels)[number]

/** Secret A with three versions in prod and one in staging; GONE is removed. */
const scene = Effect.gen(function* () {
  const ada = yield* organization()
  for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
  yield* setSecret(ada, "GONE", "gone")
  yield* removeSecret(ada, "GONE")
  yield* setSecret(ada, "A", "staged", { path: envPath("staging") })
  return ada
})

const levelled = (actor: Actor, here: Level, there: Level) =>
  Effect.gen(function* () {
    if (here !== "none") yield* grant(actor, here, { env: "prod" })
    if (there !== "none") yield* grant(actor, there, { env: "staging" })
    return actor
  })

const atLeast = (level: Level, wanted: Level) => levels.indexOf(level) >= levels.indexOf(wanted)

/** Every call, with whether rules for prod (here) and staging (there) are enough for it. */
const calls: ReadonlyArray<{
  readonly name: string
  readonly call: (actor: Actor) => ReturnType<typeof anyCall>
  readonly needs: (here: Level, there: Level) => boolean
  readonly writes: boolean
}> = [
  {
    name: "versions",
    call: (actor) => anyCall(listVersions(actor, "A")),
    needs: (here) => atLeast(here, "read"),
    writes: false
  },
  {
    name: "diff",
    call: (actor) => anyCall(diff(actor, "prod", "staging")),
    needs: (here, there) => atLeast(here, "read") && atLeast(there, "read"),
    writes: false
  },
  {
    name: "copy",
    call: (actor) => anyCall(copy(actor, { from: "staging", to: "prod" })),
    needs: (here, there) => atLeast(here, "write") && atLeast(there, "read"),
    writes: true
  },
  {
    name: "copy as a dry run",
    call: (actor) => anyCall(copy(actor, { from: "staging", to: "prod" }, { dry_run: true })),
    needs: (here, there) => atLeast(here, "write") && atLeast(there, "read"),
    writes: true
  },
  {
    name: "rollback",
    call: (actor) => anyCall(rollback(actor, "A", 2)),
    needs: (here) => atLeast(here, "write"),
    writes: true
  },
  {
    name: "revisions",
    call: (actor) => anyCall(listRevisions(actor)),
    needs: (here) => atLeast(here, "read"),
    writes: false
  },
  {
    name: "revert",
    call: (actor) => anyCall(revert(actor, 2)),
    needs: (here) => atLeast(here, "write"),
    writes: true
  },
  {
    name: "revert as a dry run",
    call: (actor) => anyCall(revert(actor, 2, { dryRun: true })),
    needs: (here) => atLeast(here, "write"),
    writes: true
  },
  {
    name: "undelete",
    call: (actor) => anyCall(undelete(actor, "GONE")),
    needs: (here) => atLeast(here, "write"),
    writes: true
  },
  {
    name: "destroy",
    call: (actor) => anyCall(destroy(actor, "A", [1])),
    needs: (here) => atLeast(here, "admin"),
    writes: true
  }
]

type Needed =
  | Effect.Effect.Context<ReturnType<typeof copy>>
  | Effect.Effect.Context<ReturnType<typeof destroy>>
  | Effect.Effect.Context<ReturnType<typeof revert>>

function anyCall<A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E, Needed>) {
  return outcome(call)
}

describe("history and promotion", () => {
  for (const { call, name, needs, writes } of calls) {
    it.effect(`need what the contract says of ${name}: each rule here with each rule there`, () =>
      Effect.gen(function* () {
        yield* scene
        const enough: Array<() => ReturnType<typeof anyCall>> = []
        const before = yield* everything
        const denied = { wanted: 0 }
        for (const here of levels) {
          for (const there of levels) {
            const robot = yield* levelled(yield* account(`${here} ${there}`), here, there)
            const developer = yield* levelled(yield* member(`${here}.${there}@dev.example`, "developer"), here, there)
            const reader = yield* levelled(yield* member(`${here}.${there}@member.example`, "member"), here, there)
            for (const actor of [robot, developer]) {
              if (needs(here, there)) enough.push(() => call(actor))
              else {
                denied.wanted++
                assert.strictEqual(yield* call(actor), "Forbidden", `${here} here, ${there} there`)
              }
            }
            if (writes || !needs(here, there)) {
              denied.wanted++
              assert.strictEqual(yield* call(reader), "Forbidden", "a member's role never writes")
            } else assert.strictEqual(yield* call(reader), "success")
          }
        }
        assert.deepStrictEqual(yield* everything, before, "what is refused changes nothing")
        const all = yield* entries()
        assert.lengthOf(
          all.filter(({ action }) => action === "access.denied"),
          denied.wanted
        )
        assert.isNotEmpty(enough)
        for (const [index, allowed] of enough.entries()) {
          // There is one life of the key to bring back.
          assert.strictEqual(yield* allowed(), name === "undelete" && index > 0 ? "NotFound" : "success")
        }
      }).pipe(onHistory)
    )
  }

  it.effect("are out of reach from another project's account, and of someone else's organization", () =>
    Effect.gen(function* () {
      yield* scene
      yield* organization("other", "api", "eve@example.com")
      const eve = yield* account("eve", { org: "other" })
      yield* grant(eve, "admin", { org: "other" })
      for (const { call } of calls) assert.strictEqual(yield* call(eve), "NotFound")
    }).pipe(onHistory)
  )
})

const canary = "canary-4711"

describe("an account that was made with reveal: false", () => {
  it.effect("copies, rolls back, undeletes, diffs and lists, and is never given a value", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const agent = yield* account("agent", { reveal: false })
      yield* grant(agent, "write", { env: "*" })
      yield* setSecret(ada, "A", `${canary}-1`)
      yield* setSecret(ada, "A", `${canary}-2 and longer`)
      yield* setSecret(ada, "GONE", `${canary}-gone`)
      yield* removeSecret(ada, "GONE")
      yield* setSecret(ada, "B", `${canary}-b`, { path: envPath("dev") })

      const given: Array<unknown> = []
      const did = <A, E, R>(call: Effect.Effect<A, E, R>) =>
        Effect.map(call, (answer) => {
          given.push(answer)
          return answer
        })
      const refused = <A, E, R>(call: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(call), (error) => {
          given.push(error)
          return error
        })
      const tried = yield* did(copy(agent, { from: "prod", to: "staging" }, { dry_run: true }))
      const copied = yield* did(copy(agent, { from: "prod", to: "staging" }))
      assert.deepStrictEqual(copied, { ...tried, revision: 1 })
      yield* did(rollback(agent, "A", 1))
      yield* did(undelete(agent, "GONE"))
      yield* did(listVersions(agent, "A"))
      yield* did(listRevisions(agent))
      yield* did(revert(agent, 1))
      yield* did(revert(agent, 6))
      yield* did(diff(agent, "prod", "staging"))
      yield* did(setSecret(agent, "OWN", `own`))
      yield* did(writeBundle(agent, { set: { OWN: "own", A: "guess" }, dry_run: true }))
      for (const call of [
        refused(readSecret(agent, "A")),
        refused(readSecret(agent, "A", { version: 1 })),
        refused(readSecret(agent, "OWN")),
        refused(readBundle(agent)),
        refused(readBundle(agent, { keys: ["A"] }))
      ]) {
        assert.propertyVal(yield* call, "code", "FORBIDDEN")
      }
      yield* refused(rollback(agent, "A", 99))
      yield* refused(rollback(agent, "A", 1, { expected: 1 }))
      yield* refused(undelete(agent, "A"))
      yield* refused(copy(agent, { from: "prod", to: "staging" }, { keys: ["ABSENT"] }))
      yield* refused(destroy(agent, "A", [1]))

      for (const answer of given) {
        assert.notInclude(inspect(answer, { depth: Infinity, showHidden: true }), "canary")
        assert.notInclude(JSON.stringify(answer), "canary")
      }
      for (const entry of yield* entries()) assert.notInclude(JSON.stringify(entry), "canary")
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 3, value: `${canary}-1` })
      assert.strictEqual((yield* readSecret(ada, "GONE")).value, `${canary}-gone`)
      const staged = yield* readSecret(ada, "A", { path: envPath("staging") })
      assert.strictEqual(staged.value, `${canary}-2 and longer`)
    }).pipe(onHistory)
  )
})

describe("a comparison of two environments", () => {
  it.effect("is keys and statuses and nothing else, whatever the values", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const answers: Array<unknown> = []
      for (const text of ["", "x", "x".repeat(60_000)]) {
        yield* writeBundle(ada, { set: { BOTH: "same", OTHER: `${text}1`, HERE: text } })
        yield* writeBundle(ada, { set: { BOTH: "same", OTHER: `${text}2`, THERE: text } }, { path: envPath("dev") })
        answers.push(yield* diff(ada, "prod", "dev"))
      }
      const wanted = {
        data: [
          { key: "BOTH", status: "same" },
          { key: "HERE", status: "only_here" },
          { key: "OTHER", status: "different" },
          { key: "THERE", status: "only_there" }
        ]
      }
      assert.deepStrictEqual(answers, [wanted, wanted, wanted])
    }).pipe(onHistory)
  )
})

describe("a dry run of a copy", () => {
  it.effect("says what the copy does then, writes nothing and records nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1", B: "2", C: "3" } }, { path: envPath("staging") })
      yield* writeBundle(ada, { set: { A: "1", B: "other", ONLY: "here" } })
      const before = { all: yield* everything, entries: yield* entries() }
      const tried = yield* copy(ada, { from: "staging", to: "prod" }, { dry_run: true })
      assert.deepStrictEqual({ all: yield* everything, entries: yield* entries() }, before)
      const done = yield* copy(ada, { from: "staging", to: "prod" })
      assert.deepStrictEqual(
        done.data.map(({ change, key, version }) => [key, version, change]),
        [
          ["A", 1, "unchanged"],
          ["B", 2, "updated"],
          ["C", 1, "created"]
        ]
      )
      assert.deepStrictEqual([tried.data, tried.revision], [done.data, done.revision - 1])
      const after = yield* changeEntries
      assert.deepStrictEqual(
        after.slice(before.all.entries.length).map(({ action, metadata }) => [action, metadata]),
        [
          ["secret.copy", { project: "webshop", env: "prod", key: "B", version: 2, from: "staging", from_version: 1 }],
          ["secret.copy", { project: "webshop", env: "prod", key: "C", version: 1, from: "staging", from_version: 1 }]
        ]
      )
      assert.strictEqual((yield* readSecret(ada, "ONLY")).value, "here")
    }).pipe(onHistory)
  )
})
