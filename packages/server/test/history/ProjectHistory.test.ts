import type { Actor } from "@coffer/domain/access/Actor"
import { Access } from "@coffer/server/access/Access"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { ProjectHistory } from "@coffer/server/secrets/project-history/ProjectHistory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import {
  asActor,
  envPath,
  grant,
  member,
  onDatabase,
  organization,
  projectPath,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"

const withHistory = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide([ProjectHistory.Default, Revisions.Default]), onDatabase())

type Request = Parameters<ProjectHistory["list"]>[1]

const page = (actor: Actor, request: Request = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.project(projectPath(), "env.list")).pipe(
      asActor(actor)
    )
    return yield* (yield* ProjectHistory).list(place, request)
  })

type Page = Effect.Effect.Success<ReturnType<typeof page>>

const changesIn = ({ data }: Page) =>
  data.map(
    ({ env, keys, revision }) => `${env} ${revision}: ${keys.map(({ change, key }) => `${key} ${change}`).join()}`
  )

const everyPage = Effect.fnUntraced(function* (actor: Actor, limit: number) {
  const pages: Array<Page> = []
  for (let after: string | null | undefined = undefined; after !== null;) {
    const next: Page = yield* page(actor, { limit, ...(after !== undefined && { after }) })
    pages.push(next)
    after = next.pagination.next_cursor
  }
  return pages
})

const scene = Effect.gen(function* () {
  const ada = yield* organization()
  const write = (env: string, name: string, text = "x") =>
    Effect.zipRight(TestClock.adjust("1 minute"), setSecret(ada, name, text, { path: envPath(env) }))
  yield* write("dev", "A")
  yield* write("prod", "A")
  yield* write("dev", "B")
  yield* write("dev", "A", "y")
  yield* TestClock.adjust("1 minute")
  yield* removeSecret(ada, "A")
  yield* write("dev", "C")
  return { ada, write }
})

const all = [
  "dev 4: C created",
  "prod 2: A deleted",
  "dev 3: A updated",
  "dev 2: B created",
  "prod 1: A created",
  "dev 1: A created"
]

describe("the history of a project", () => {
  it.effect("merges the revisions of its environments, newest first, with author and keys", () =>
    withHistory(
      Effect.gen(function* () {
        const { ada } = yield* scene
        const { data, pagination } = yield* page(ada)
        assert.deepStrictEqual(changesIn({ data, pagination }), all)
        assert.deepStrictEqual(pagination, { limit: 100, has_next: false, next_cursor: null })
        assert.isTrue(data.every(({ created_by }) => created_by === "ada@example.com"))
        const times = data.map(({ created_at }) => created_at)
        assert.deepStrictEqual(times, [...times].sort().reverse())
      })
    )
  )

  it.effect("has the note of a revision, which one that changes nothing leaves out", () =>
    withHistory(
      Effect.gen(function* () {
        const ada = yield* organization()
        const note = "imported from doppler:webshop/prd"
        yield* writeBundle(ada, { set: { A: "1" }, note })
        yield* writeBundle(ada, { set: { A: "1" }, note: "the same again" })
        yield* writeBundle(ada, { set: { A: "2" }, note: "not made", dry_run: true })
        yield* writeBundle(ada, { set: { A: "3" } })
        const { data } = yield* page(ada)
        assert.deepStrictEqual(
          data.map(({ note, revision }) => ({ note, revision })),
          [
            { note: undefined, revision: 2 },
            { note, revision: 1 }
          ]
        )
        const place = yield* Effect.flatMap(Access, (access) => access.env(envPath(), "secret.list")).pipe(asActor(ada))
        const revisions = yield* (yield* Revisions).list(place, {})
        assert.deepStrictEqual(
          revisions.map(({ note, revision }) => ({ note, revision })),
          [
            { note: undefined, revision: 2 },
            { note, revision: 1 }
          ]
        )
      })
    )
  )

  it.effect("comes in pages of any size, and is not disturbed by what is written meanwhile", () =>
    withHistory(
      Effect.gen(function* () {
        const { ada, write } = yield* scene
        for (const limit of [1, 2, 3, 5, 6, 100]) {
          assert.deepStrictEqual((yield* everyPage(ada, limit)).flatMap(changesIn), all, `pages of ${limit}`)
        }
        const first = yield* page(ada, { limit: 2 })
        yield* write("staging", "NEW")
        yield* write("dev", "NEW")
        const after = first.pagination.next_cursor ?? ""
        assert.deepStrictEqual(changesIn(yield* page(ada, { after })), all.slice(2))
      })
    )
  )

  it.effect("reads on in an environment with more revisions than one statement reads", () =>
    withHistory(
      Effect.gen(function* () {
        const { ada } = yield* scene
        for (let index = 0; index < 35; index++) yield* setSecret(ada, "MANY", `${index}`, { path: envPath("staging") })
        const found = (yield* everyPage(ada, 100)).flatMap(changesIn)
        assert.lengthOf(found, 35 + all.length)
        assert.deepStrictEqual((yield* everyPage(ada, 4)).flatMap(changesIn), found)
      })
    )
  )

  it.effect("has at most 4,000 changes on a page", () =>
    withHistory(
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const env of ["dev", "staging", "prod"]) {
          const set = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`K_${index}`, env]))
          yield* writeBundle(ada, { set }, { path: envPath(env) })
        }
        const pages = yield* everyPage(ada, 100)
        assert.deepStrictEqual(
          pages.map(({ data }) => data.length),
          [2, 1]
        )
      })
    )
  )
})

describe("the history that somebody sees who may list one of two environments", () => {
  it.effect("has nothing of the other, not even in its cursor", () =>
    withHistory(
      Effect.gen(function* () {
        const { ada } = yield* scene
        const bob = yield* member("bob@example.com", "developer")
        assert.deepStrictEqual((yield* page(bob)).data, [])
        yield* grant(bob, "read", { env: "dev" })
        const before = yield* everyPage(bob, 1)
        assert.deepStrictEqual(
          before.flatMap(changesIn),
          all.filter((change) => change.startsWith("dev"))
        )
        assert.notInclude(JSON.stringify(before), "prod")
        yield* setSecret(ada, "SECRETLY", "x")
        assert.deepStrictEqual(yield* everyPage(bob, 1), before)
        const forged = yield* page(bob, { after: "h~prod.99" })
        assert.deepStrictEqual(forged.data, [])
      })
    )
  )
})
