import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { ProjectMatrix } from "@coffer/server/secrets/services/ProjectMatrix"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import type { Actor } from "@coffer/domain/access/Actor"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import {
  account,
  asActor,
  entries,
  envPath,
  grant,
  member,
  onDamagedDatabase,
  onDatabase,
  organization,
  outcome,
  projectPath,
  removeSecret,
  setSecret
} from "../support/Services.js"

const read = (actor: Actor, envs?: ReadonlyArray<string>, ifNoneMatch?: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.list").pipe(asActor(actor))
    return yield* (yield* ProjectMatrix).read(
      place,
      envs?.map((name) => EnvName.make(name)),
      ifNoneMatch
    )
  }).pipe(Effect.provide(ProjectMatrix.Default))

const matrix = (actor: Actor, envs?: ReadonlyArray<string>) =>
  Effect.map(read(actor, envs), ({ found }) => found ?? assert.fail("there is no matrix"))

const sameOf = ({ data }: Effect.Effect.Success<ReturnType<typeof matrix>>) =>
  Object.fromEntries(data.map(({ cells, key }) => [key, cells.map((cell) => cell?.same ?? null)]))

/** Values in dev, prod and staging; none where it is undefined. */
const filled = (actor: Actor, rows: Readonly<Record<string, ReadonlyArray<string | undefined>>>) =>
  Effect.forEach(Object.entries(rows), ([key, values]) =>
    Effect.forEach(values, (value, index) =>
      value === undefined
        ? Effect.void
        : setSecret(actor, key, value, { path: envPath(["dev", "prod", "staging"][index]) })
    )
  )

describe("the matrix of a project", () => {
  it.effect("has a number for each value of a row, and null where there is no value", () =>
    onDatabase()(
      Effect.gen(function* () {
        const ada = yield* organization()
        assert.deepStrictEqual((yield* matrix(ada)).data, [])
        yield* filled(ada, {
          ALIKE: ["hunter2", "hunter2", "hunter2"],
          DIFFERS: ["hunter2", "hunter3", "hunter2"],
          ONLY_PROD: [undefined, "hunter2", undefined],
          EMPTY: ["", "", "x"]
        })
        const found = yield* matrix(ada)
        assert.deepStrictEqual(
          found.environments.map(({ allowed, name, reveals, revision }) => [String(name), allowed, reveals, revision]),
          [
            ["dev", ["use", "read", "write", "admin"], true, 3],
            ["prod", ["use", "read", "write", "admin"], true, 4],
            ["staging", ["use", "read", "write", "admin"], true, 3]
          ]
        )
        assert.deepStrictEqual(sameOf(found), {
          ALIKE: [1, 1, 1],
          DIFFERS: [1, 2, 1],
          EMPTY: [1, 1, 2],
          ONLY_PROD: [null, 1, null]
        })
        assert.notInclude(JSON.stringify(found), "hunter")
        assert.strictEqual(found.data[0]?.cells[0]?.updated_by, "ada@example.com")
        assert.notInclude(
          (yield* entries()).map(({ action }) => action),
          "secret.read"
        )
      })
    )
  )

  it.effect("shows no cell of an environment that the caller may not read, and records no refusal", () =>
    onDatabase()(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* filled(ada, { A: ["x", "y", "x"], B: [undefined, "y", undefined] })
        const grace = yield* member("grace@example.com", "developer")
        yield* grant(grace, "read", { env: "{dev,staging}" })
        yield* grant(grace, "write", { env: "dev" })
        const found = yield* matrix(grace)
        assert.deepStrictEqual(sameOf(found), { A: [1, null, 1] })
        assert.deepStrictEqual(
          found.environments.map(({ allowed, etag, name, revision }) => [
            String(name),
            allowed,
            revision,
            etag === null
          ]),
          [
            ["dev", ["use", "read", "write"], 1, false],
            ["prod", [], null, true],
            ["staging", ["use", "read"], 1, false]
          ]
        )
        assert.notInclude(
          (yield* entries()).map(({ action }) => action),
          "access.denied"
        )
        const blind = yield* account("blind", { reveal: false })
        yield* grant(blind, "read", { env: "prod" })
        const seen = yield* matrix(blind, ["prod"])
        assert.deepStrictEqual([seen.environments[0]?.reveals, sameOf(seen)], [false, { A: [1], B: [1] }])
      })
    )
  )

  it.effect("has an ETag that changes with every write and with the caller's rights", () =>
    onDatabase()(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "x")
        const { etag } = yield* read(ada)
        assert.deepStrictEqual(yield* read(ada, undefined, etag), { etag, found: undefined })
        yield* setSecret(ada, "A", "y", { path: envPath("dev") })
        const second = yield* read(ada, undefined, etag)
        assert.notStrictEqual(second.etag, etag)
        assert.isDefined(second.found)
        yield* removeSecret(ada, "A")
        assert.notStrictEqual((yield* read(ada)).etag, second.etag)
        const grace = yield* member("grace@example.com", "developer")
        const none = yield* read(grace)
        yield* grant(grace, "read", { env: "dev" })
        const one = yield* read(grace, undefined, none.etag)
        assert.isDefined(one.found)
      })
    )
  )

  it.effect(
    "has the worst state of an environment's targets, for people who may list them, by no more statements",
    () =>
      onDatabase()(
        Effect.gen(function* () {
          const ada = yield* organization()
          const grace = yield* member("grace@example.com", "developer")
          yield* grant(grace, "write", { env: "dev" })
          const deploy = yield* account("deploy", {})
          yield* grant(deploy, "admin", { env: "dev" })
          const targets = (actor: Actor) =>
            Effect.map(matrix(actor), (found) => found.environments.map((env) => env.targets))
          const { result: before, statements } = yield* statementsOf(targets(ada))
          assert.deepStrictEqual(before, [undefined, undefined, undefined])
          const { etag } = yield* read(ada)
          const of = { grace: yield* read(grace), deploy: yield* read(deploy) }
          const sql = yield* SqlClient.SqlClient
          for (const [env, ...states] of [
            ["dev", "in step", "missing there", "unknown", null, "changed there"],
            ["prod", "in step", "unknown", null],
            ["staging", null]
          ] as const) {
            for (const [index, state] of states.entries()) {
              const name = `t-${index}`
              yield* sql`INSERT INTO targets (id, env_id, name, kind, credential_key, terms, state, created_by, creator_id, created_at)
              SELECT ${`${env}-${name}`}, e.id, ${name}, 'vault', 'TOKEN', '{}', ${state}, 'ada@example.com', 'ada', '2026-01-01T00:00:00.000Z'
              FROM environments e WHERE e.name = ${env}`
            }
          }
          const after = yield* statementsOf(targets(ada))
          assert.deepStrictEqual(after.result, ["changed there", "unknown", undefined])
          assert.lengthOf(after.statements, statements.length)
          assert.deepStrictEqual(yield* targets(grace), [undefined, undefined, undefined])
          assert.deepStrictEqual(yield* targets(deploy), [undefined, undefined, undefined])
          assert.notStrictEqual((yield* read(ada)).etag, etag)
          assert.deepStrictEqual(
            [(yield* read(grace)).etag, (yield* read(deploy)).etag],
            [of.grace.etag, of.deploy.etag]
          )
          yield* sql`UPDATE targets SET state = 'missing there' WHERE state = 'changed there'`
          assert.deepStrictEqual(yield* targets(ada), ["missing there", "unknown", undefined])
          yield* sql`UPDATE targets SET state = 'in step' WHERE state IS NOT NULL`
          assert.deepStrictEqual(yield* targets(ada), ["in step", "in step", undefined])
        })
      )
  )

  it.effect("takes names of environments, and has no more than 24", () =>
    onDatabase()(
      Effect.gen(function* () {
        const ada = yield* organization()
        const found = yield* matrix(ada, ["staging", "dev"])
        assert.deepStrictEqual(
          [found.environments.map(({ name }) => name), found.others],
          [["dev", "staging"], ["prod"]]
        )
        assert.strictEqual(yield* outcome(read(ada, ["nowhere"])), "NotFound")
      })
    )
  )

  it.effect("marks a value that does not decrypt, and shows the others", () =>
    onDamagedDatabase()(
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* filled(ada, { A: ["x", "x", "x"], B: ["x", "x", "x"] })
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE secret_versions SET format = 7
          WHERE secret_id = (SELECT s.id FROM secrets s JOIN environments e ON e.id = s.env_id
            WHERE s.key = 'A' AND e.name = 'prod')`
        assert.deepStrictEqual(sameOf(yield* matrix(ada)), { A: [1, null, 1], B: [1, 1, 1] })
        assert.include(
          (yield* entries()).map(({ action }) => action),
          "secret.decryption_failed"
        )
      })
    )
  )
})
