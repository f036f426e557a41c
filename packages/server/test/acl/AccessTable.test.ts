import type { Actor } from "@coffer/domain/access/Actor"
import type { AccessSubject } from "@coffer/domain/access/AccessTable"
import { Email } from "@coffer/domain/base/Names"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { AccessTable } from "@coffer/server/directory/acl/AccessTable"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  account,
  asActor,
  grant,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome
} from "../support/Services.js"

const withTables = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide(Layer.mergeAll(AccessTable.Default, Acl.Default)), onDatabase())

const subject = (address: string): AccessSubject => Schema.decodeSync(Email)(address)

type Request = Parameters<AccessTable["read"]>[1]

const table = (actor: Actor, request: Request = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "acl.explain")).pipe(asActor(actor))
    return yield* (yield* AccessTable).read(place, request)
  })

/** Each environment, with the permission and where it comes from. */
const rowsOf = (actor: Actor, request: Request = {}) =>
  Effect.map(table(actor, request), ({ data }) =>
    data.map(({ because, env, permission, project }) => {
      const pattern = because?.project_pattern === undefined ? "" : ` ${because.project_pattern}/${because.env_pattern}`
      const reason = because === undefined ? "" : ` by ${because.by}${because.role ?? pattern}`
      return `${project}/${env} ${permission ?? "none"}${reason}${because?.limited_by === undefined ? "" : " limited"}`
    })
  )

const scene = Effect.gen(function* () {
  const ada = yield* organization()
  yield* newProject(ada, "api")
  const bob = yield* member("bob@example.com", "developer")
  yield* grant(bob, "read", { project: "webshop" })
  yield* grant(bob, "write", { project: "*", env: "{dev,staging}" })
  return { ada, bob }
})

const ofBob = [
  "api/dev write by rule */{dev,staging}",
  "api/prod none",
  "api/staging write by rule */{dev,staging}",
  "webshop/dev write by rule */{dev,staging}",
  "webshop/prod read by rule webshop/*",
  "webshop/staging write by rule */{dev,staging}"
]

describe("the table of a subject's access", () => {
  it.effect("has every environment, with the highest permission and the rule that gives it", () =>
    withTables(
      Effect.gen(function* () {
        const { ada, bob } = yield* scene
        assert.deepStrictEqual(yield* rowsOf(ada, { subject: subject("bob@example.com") }), ofBob)
        assert.deepStrictEqual(yield* rowsOf(bob), ofBob)
        assert.deepStrictEqual((yield* rowsOf(ada))[0], "api/dev admin by roleowner")
      })
    )
  )

  it.effect("says what limits a rule", () =>
    withTables(
      Effect.gen(function* () {
        const { ada } = yield* scene
        const eve = yield* member("eve@example.com", "member")
        yield* grant(eve, "admin", { project: "api", env: "dev" })
        const [first, second] = yield* rowsOf(ada, { subject: subject("eve@example.com") })
        assert.deepStrictEqual([first, second], ["api/dev read by rule api/dev limited", "api/prod none"])
        const ci = yield* account("ci", { project: "webshop" })
        yield* grant(ci, "read", { env: "dev" })
        const rows = yield* rowsOf(ada, { subject: ServiceAccountId.make(ci.id) })
        assert.deepStrictEqual(
          [rows[0], rows[3]],
          ["api/dev none by rule */dev limited", "webshop/dev read by rule */dev"]
        )
      })
    )
  )

  it.effect("agrees with the explanation of each environment", () =>
    withTables(
      Effect.gen(function* () {
        const { ada } = yield* scene
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "acl.explain")).pipe(asActor(ada))
        const { data } = yield* table(ada, { subject: subject("bob@example.com") })
        for (const { env, permission, project } of data) {
          const ref = { subject_type: "user", email: Schema.decodeSync(Email)("bob@example.com") } as const
          const { allowed } = yield* (yield* Acl).explain(place, ref, project, env)
          assert.strictEqual(permission, allowed.at(-1) ?? null, `${project}/${env}`)
        }
      })
    )
  )

  it.effect("comes in pages of any size", () =>
    withTables(
      Effect.gen(function* () {
        const { ada } = yield* scene
        for (const limit of [1, 2, 4, 5, 6, 100]) {
          const found: Array<string> = []
          for (let after: string | null | undefined = undefined; after !== null;) {
            const page: Effect.Effect.Success<ReturnType<typeof table>> = yield* table(ada, {
              limit,
              ...(after !== undefined && { after })
            })
            assert.isAtMost(page.data.length, limit)
            found.push(...page.data.map(({ env, project }) => `${project}/${env}`))
            after = page.pagination.next_cursor
          }
          assert.deepStrictEqual(
            found,
            ofBob.map((row) => row.split(" ")[0])
          )
        }
      })
    )
  )

  it.effect("is for admins, and for everyone about themselves", () =>
    withTables(
      Effect.gen(function* () {
        const { bob } = yield* scene
        assert.strictEqual(yield* outcome(table(bob, { subject: subject("ada@example.com") })), "Forbidden")
        assert.strictEqual(yield* outcome(table(bob, { subject: subject("nobody@example.com") })), "Forbidden")
        assert.strictEqual(yield* outcome(table(bob, { subject: subject("bob@example.com") })), "success")
      })
    )
  )

  it.effect("names no other project to a service account bound to one", () =>
    withTables(
      Effect.gen(function* () {
        yield* scene
        const ci = yield* account("ci", { project: "webshop" })
        yield* grant(ci, "read")
        const page = yield* table(ci, { limit: 2 })
        assert.notInclude(JSON.stringify(page), "api")
        assert.deepStrictEqual(yield* rowsOf(ci), [
          "webshop/dev read by rule */*",
          "webshop/prod read by rule */*",
          "webshop/staging read by rule */*"
        ])
      })
    )
  )

  it.effect("is NOT_FOUND for an admin who asks about nobody", () =>
    withTables(
      Effect.gen(function* () {
        const { ada } = yield* scene
        assert.strictEqual(yield* outcome(table(ada, { subject: subject("nobody@example.com") })), "NotFound")
      })
    )
  )
})
