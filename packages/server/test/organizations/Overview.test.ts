import type { Actor } from "@coffer/domain/access/Actor"
import type { Overview } from "@coffer/domain/secrets/Overview"
import { Access } from "@coffer/server/access/Access"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Overviews } from "@coffer/server/secrets/overview/Overviews"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import {
  asActor,
  envPath,
  grant,
  isOnPostgres,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  projectPath,
  raw,
  removeSecret,
  setSecret,
  transaction,
  uuid
} from "../support/Services.js"

const showing = <A, E, R>(test: Effect.Effect<A, E, R>) => test.pipe(Effect.provide(Overviews.Default), onDatabase())

const show = (actor: Actor, request: Parameters<Overviews["show"]>[1] = {}) =>
  Effect.gen(function* () {
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "project.list")).pipe(asActor(actor))
    return yield* (yield* Overviews).show(place, request)
  })

const everyPage = Effect.fnUntraced(function* (actor: Actor, limit?: number) {
  const pages: Array<Overview> = []
  for (let after: string | null | undefined = undefined; after !== null;) {
    const next: Overview = yield* show(actor, {
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { after })
    })
    pages.push(next)
    after = next.pagination.next_cursor
  }
  return pages
})

const linesOf = ({ data }: Overview) =>
  data.map(
    ({ changed_at, changed_by, environments, keys, project }) =>
      `${project} ${environments} ${keys} ${changed_at?.slice(11, 16) ?? "never"} ${changed_by ?? "nobody"}`
  )

describe("the overview of an organization", () => {
  it.effect("counts environments and keys, and has the last change, removals included", () =>
    showing(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* newProject(ada, "api")
        for (const [env, name] of [
          ["dev", "A"],
          ["prod", "A"],
          ["dev", "B"]
        ] as const) {
          yield* TestClock.adjust("1 minute")
          yield* setSecret(ada, name, "x", { path: envPath(env) })
        }
        const [api, webshop] = linesOf(yield* show(ada))
        assert.strictEqual(api, "api 3 0 never nobody")
        assert.strictEqual(webshop, "webshop 3 3 00:03 ada@example.com")
        yield* TestClock.adjust("1 minute")
        yield* removeSecret(ada, "A")
        assert.strictEqual(linesOf(yield* show(ada))[1], "webshop 3 2 00:04 ada@example.com")
        assert.strictEqual((yield* show(ada)).projects, 2)
        const place = yield* (yield* Access).project(projectPath("api"), "project.delete").pipe(asActor(ada))
        yield* transaction((yield* Projects).remove(place))
        assert.deepStrictEqual(
          (yield* show(ada)).data.map(({ project }) => String(project)),
          ["webshop"]
        )
      })
    )
  )

  it.effect("counts nothing, and shows no change, where the caller may not list keys", () =>
    showing(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "x", { path: envPath("dev") })
        yield* TestClock.adjust("1 minute")
        for (const name of ["A", "B"]) yield* setSecret(ada, name, "x", { path: envPath("prod") })
        const grace = yield* member("grace@example.com", "developer")
        assert.deepStrictEqual(linesOf(yield* show(grace)), ["webshop 3 0 never nobody"])
        yield* grant(grace, "read", { project: "webshop", env: "dev" })
        assert.deepStrictEqual(linesOf(yield* show(grace)), ["webshop 3 1 00:00 ada@example.com"])
      })
    )
  )

  it.effect("counts the webhooks that fail or were disabled after that, for those who may list webhooks", () =>
    showing(
      Effect.gen(function* () {
        const ada = yield* organization()
        const sql = yield* SqlClient.SqlClient
        const [org] = yield* sql<{ id: string }>`SELECT id FROM organizations`
        const at = "2026-01-01T00:00:00.000Z"
        const webhook = (enabled: 0 | 1, facts: Readonly<Record<string, string>> = {}) =>
          Effect.gen(function* () {
            const id = uuid()
            const row = {
              id,
              org_id: org?.id ?? "",
              url: "https://hooks.test",
              events: "[]",
              environments: "[]",
              enabled
            }
            const rest = { format: "coffer", seq: 0, key_number: 1, created_by: "ada", created_at: at, updated_at: at }
            yield* sql`INSERT INTO webhooks ${sql.insert({ ...row, ...rest, failed_at: null, removed_at: null, ...facts })}`
            return id
          })
        const delivery = (webhook_id: string, tries: number, facts: Readonly<Record<string, string | null>> = {}) => {
          const row = { id: uuid(), webhook_id, kind: "event", seq: ++sequence, lane: "", body: "{}", state: "pending" }
          return sql`INSERT INTO webhook_deliveries ${sql.insert({ ...row, tries, next_at: at, created_at: at, updated_at: at, ...facts })}`
        }
        let sequence = 0
        const count = Effect.map(show(ada), ({ failing_webhooks }) => failing_webhooks)
        assert.strictEqual(yield* count, 0)
        yield* delivery(yield* webhook(1), 0)
        yield* delivery(yield* webhook(1), 3, { state: "delivered", next_at: null })
        yield* delivery(yield* webhook(0), 2)
        yield* delivery(yield* webhook(1, { removed_at: at }), 2)
        yield* delivery(yield* webhook(1), 1, { kind: "test" })
        assert.strictEqual(yield* count, 0, "none fails")
        const failing = yield* webhook(1)
        yield* delivery(failing, 1)
        yield* delivery(failing, 0, { next_at: null })
        yield* webhook(0, { failed_at: at })
        assert.strictEqual(yield* count, 2)
        const grace = yield* member("grace@example.com", "developer")
        assert.notProperty(yield* show(grace), "failing_webhooks")
        assert.strictEqual((yield* show(yield* member("bob@example.com", "admin"))).failing_webhooks, 2)
        // They have no signing keys, which the check of the database would miss.
        for (const table of ["webhook_deliveries", "webhooks"]) yield* sql`DELETE FROM ${sql(table)}`
      })
    )
  )

  it.effect.skipIf(isOnPostgres())(
    "reads 1,000 projects of 60 environments in whole projects and bounded statements",
    () =>
      showing(
        Effect.gen(function* () {
          const ada = yield* organization()
          const db = yield* raw
          db.transaction(() => {
            const project = db.prepare(
              "INSERT INTO projects (id, org_id, name, created_at, updated_at) SELECT ?, id, ?, created_at, created_at FROM organizations"
            )
            const env = db.prepare(
              "INSERT INTO environments (id, project_id, name, created_at, updated_at) VALUES (?, ?, ?, '', '')"
            )
            for (let index = 1; index < 1_000; index++) {
              project.run(`p${index}`, `project-${index}`)
              for (let at = 0; at < 60; at++) env.run(`e${index}-${at}`, `p${index}`, `env-${at}`)
            }
          })()
          const { result, statements } = yield* statementsOf(show(ada))
          assert.strictEqual(result.projects, 1_000)
          assert.isTrue(result.data.length === 50 && result.pagination.has_next)
          const reads = statements.filter(
            ({ text }) => text.startsWith("SELECT") && text.includes("e.secret_count AS secrets,")
          )
          assert.strictEqual(reads.length, 15 + 1, "200 environments each, and what is left")
          const pages = yield* everyPage(ada, 100)
          const all = pages.flatMap(({ data }) => data)
          assert.strictEqual(all.length, 1_000)
          assert.strictEqual(new Set(all.map(({ project }) => project)).size, 1_000)
          assert.isTrue(all.every(({ environments, project }) => project === "webshop" || environments === 60))
        })
      )
  )
})
