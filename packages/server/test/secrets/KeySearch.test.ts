import type { Actor } from "@coffer/domain/access/Actor"
import type { FoundKeyPage } from "@coffer/domain/secrets/FoundKey"
import { Access } from "@coffer/server/access/Access"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Declared } from "@coffer/server/secrets/declared/Declared"
import { KeySearch } from "@coffer/server/secrets/key-search/KeySearch"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  account,
  asActor,
  envPath,
  grant,
  key,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  projectPath,
  removeSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const searching = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide(Layer.mergeAll(KeySearch.Default, Declared.Default, Environments.Default)), onDatabase())

const page = (actor: Actor, query: string, more: { readonly limit?: number; readonly after?: string } = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "key.find")).pipe(asActor(actor))
    return yield* (yield* KeySearch).find(place, { query, ...more })
  })

const namesIn = ({ data }: FoundKeyPage) => data.map(({ env, key, project }) => `${project}/${env}/${key}`)

const found = (actor: Actor, query: string) => Effect.map(page(actor, query), namesIn)

/** All pages of a size. */
const everyPage = Effect.fnUntraced(function* (actor: Actor, query: string, limit: number) {
  const pages: Array<FoundKeyPage> = []
  for (let after: string | null | undefined = undefined; after !== null;) {
    const next: FoundKeyPage = yield* page(actor, query, { limit, ...(after !== undefined && { after }) })
    pages.push(next)
    after = next.pagination.next_cursor
  }
  return pages
})

/** Two projects, whose keys partly begin with the query, and partly contain it. */
const scene = Effect.gen(function* () {
  const ada = yield* organization()
  yield* newProject(ada, "api")
  for (const [path, ...names] of [
    [envPath("dev"), "STRIPE_KEY", "MY_STRIPE_KEY", "stripe.url"],
    [envPath("prod"), "STRIPE_KEY", "STRIPE_KEY_2", "STRIP", "OTHER"],
    [envPath("prod", "api"), "OLD_STRIPE", "STRIPE", "Stripe"]
  ] as const) {
    for (const name of names) yield* setSecret(ada, name, "x", { path })
  }
  return ada
})

const all = [
  "api/prod/STRIPE",
  "api/prod/Stripe",
  "webshop/dev/STRIPE_KEY",
  "webshop/dev/stripe.url",
  "webshop/prod/STRIPE_KEY",
  "webshop/prod/STRIPE_KEY_2",
  "api/prod/OLD_STRIPE",
  "webshop/dev/MY_STRIPE_KEY"
]

describe("a search for keys", () => {
  it.effect("finds keys that begin with the query, and then those that contain it, in any case", () =>
    searching(
      Effect.gen(function* () {
        const ada = yield* scene
        assert.deepStrictEqual(yield* found(ada, "Stripe"), all)
        const mixed = ["webshop/dev/STRIPE_KEY", "webshop/dev/stripe.url"]
        assert.sameMembers(yield* found(ada, "stripe"), all)
        assert.includeMembers((yield* found(ada, "stripe")).slice(0, 6), mixed)
        assert.deepStrictEqual(yield* found(ada, "E_KEY_"), ["webshop/prod/STRIPE_KEY_2"])
        assert.deepStrictEqual(yield* found(ada, "_KEY"), [
          "webshop/dev/MY_STRIPE_KEY",
          "webshop/dev/STRIPE_KEY",
          "webshop/prod/STRIPE_KEY",
          "webshop/prod/STRIPE_KEY_2"
        ])
      })
    )
  )

  it.effect("takes an underscore, a dot and a hyphen for what they are", () =>
    searching(
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const name of ["A_B", "AxB", "A.B", "A-B"]) yield* setSecret(ada, name, "x")
        for (const mark of ["_", ".", "-"]) {
          assert.deepStrictEqual(yield* found(ada, `${mark}B`), [`webshop/prod/A${mark}B`])
          assert.deepStrictEqual(yield* found(ada, `A${mark}`), [`webshop/prod/A${mark}B`])
        }
      })
    )
  )

  it.effect("gives the same keys in pages of any size, each once and in one order", () =>
    searching(
      Effect.gen(function* () {
        const ada = yield* scene
        for (const limit of [1, 2, 3, 5, 6, 7, 8, 100]) {
          const pages = yield* everyPage(ada, "Stripe", limit)
          assert.deepStrictEqual(pages.flatMap(namesIn), all, `pages of ${limit}`)
          assert.isTrue(pages.every(({ data }) => data.length <= limit))
        }
      })
    )
  )

  it.effect("says which version a key is at, whether it is a reference, and whether it is declared", () =>
    searching(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "STRIPE_KEY", "x")
        yield* setSecret(ada, "STRIPE_KEY", "y")
        yield* setSecret(ada, "STRIPE_ALIAS", "${STRIPE_KEY}", { kind: "reference" })
        const { project } = yield* Access
        const place = yield* project(projectPath(), "declared.set").pipe(asActor(ada))
        yield* transaction(
          Effect.flatMap(Declared, (declared) => declared.set(place, key("STRIPE_KEY"), { required_in: [] }))
        )
        const { data } = yield* page(ada, "STRIPE")
        assert.deepStrictEqual(
          data.map(({ updated_at: _updated, ...rest }) => rest),
          [
            { project: "webshop", env: "prod", key: "STRIPE_ALIAS", version: 1, kind: "reference", declared: false },
            { project: "webshop", env: "prod", key: "STRIPE_KEY", version: 2, declared: true }
          ] as never
        )
      })
    )
  )

  it.effect("finds nothing that was removed, with its secret, its environment or its project", () =>
    searching(
      Effect.gen(function* () {
        const ada = yield* scene
        yield* removeSecret(ada, "STRIPE_KEY_2")
        assert.notInclude(yield* found(ada, "Stripe"), "webshop/prod/STRIPE_KEY_2")
        const { right } = yield* Access
        const place = yield* right(envPath("dev"), "env.delete").pipe(asActor(ada))
        yield* transaction(Effect.flatMap(Environments, (environments) => environments.remove(place)))
        assert.deepStrictEqual(yield* found(ada, "Stripe"), [
          "api/prod/STRIPE",
          "api/prod/Stripe",
          "webshop/prod/STRIPE_KEY",
          "api/prod/OLD_STRIPE"
        ])
      })
    )
  )
})

describe("the search of somebody who may list one of two environments", () => {
  const restricted = Effect.gen(function* () {
    const ada = yield* organization()
    const bob = yield* member("bob@example.com", "developer")
    yield* grant(bob, "read", { project: "webshop", env: "dev" })
    yield* setSecret(ada, "STRIPE_KEY", "x", { path: envPath("dev") })
    yield* setSecret(ada, "MY_STRIPE_KEY", "x", { path: envPath("dev") })
    return { ada, bob }
  })

  it.effect("finds, counts and hints at nothing of the other, on any page", () =>
    searching(
      Effect.gen(function* () {
        const { ada, bob } = yield* restricted
        const pages = (limit: number) => everyPage(bob, "stripe", limit)
        const before = [yield* pages(1), yield* pages(100)]
        assert.deepStrictEqual(before[1]!.flatMap(namesIn), ["webshop/dev/STRIPE_KEY", "webshop/dev/MY_STRIPE_KEY"])
        for (const name of ["STRIPE_KEY", "STRIPE_LIVE", "THE_STRIPE", "A_STRIPE"]) yield* setSecret(ada, name, "x")
        assert.deepStrictEqual([yield* pages(1), yield* pages(100)], before)
        assert.lengthOf(yield* found(ada, "stripe"), 6)
      })
    )
  )

  it.effect("finds nothing without a rule, or with one that gives no right to list", () =>
    searching(
      Effect.gen(function* () {
        yield* restricted
        const eve = yield* member("eve@example.com", "member")
        assert.deepStrictEqual(yield* found(eve, "stripe"), [])
        yield* grant(eve, "use", { project: "webshop", env: "dev" })
        assert.deepStrictEqual(yield* found(eve, "stripe"), [])
        yield* grant(eve, "read", { env: "dev" })
        assert.lengthOf(yield* found(eve, "stripe"), 2)
      })
    )
  )

  it.effect("stays in its project, if a service account is scoped to one", () =>
    searching(
      Effect.gen(function* () {
        const { ada } = yield* restricted
        yield* newProject(ada, "api")
        yield* setSecret(ada, "STRIPE_API", "x", { path: envPath("prod", "api") })
        const scoped = yield* account("scoped", { project: "api" })
        yield* grant(scoped, "read")
        const before = yield* everyPage(scoped, "stripe", 1)
        assert.deepStrictEqual(before.flatMap(namesIn), ["api/prod/STRIPE_API"])
        assert.notInclude(JSON.stringify(before), "webshop")
      })
    )
  )
})
