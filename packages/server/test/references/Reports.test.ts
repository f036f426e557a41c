import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { envPath, readBundle, removeSecret, setSecret } from "../support/Services.js"
import { read, refer, refusal, scene, withReferences } from "./Scene.js"

const shared = { path: envPath("shared") }

/** Returns the values of an environment, by key, and the keys that fail. */
const exported = (...[actor, options]: Parameters<typeof readBundle>) =>
  Effect.map(readBundle(actor, options), ({ data = [], errors = [] }) => ({
    values: Object.fromEntries(data.map(({ key, value }) => [key, String(value)])),
    failed: errors.map(({ key }) => String(key))
  }))

/** Problems with references that users of other secrets managers report. */
describe("references do not fail as reported of others", () => {
  // https://github.com/Infisical/infisical/issues/4241
  it.effect("one reference to an environment that the reader may not read leaves the rest of an export", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "TEST", "hello", shared)
      yield* refer(ada, "TEST", "${shared:TEST}")
      yield* setSecret(ada, "PORT", "8080")
      assert.deepStrictEqual(yield* exported(bob), { values: { PORT: "8080" }, failed: ["TEST"] })
      assert.deepStrictEqual(yield* exported(ada), { values: { PORT: "8080", TEST: "hello" }, failed: [] })
    }).pipe(withReferences)
  )

  it.effect(
    "a value of another environment never takes in values of the reader's, not even for what is missing there",
    () =>
      Effect.gen(function* () {
        const { ada } = yield* scene
        yield* setSecret(ada, "HOST", "shared.internal", shared)
        yield* refer(ada, "DSN", "db://${HOST}", "shared")
        yield* setSecret(ada, "HOST", "prod.internal")
        yield* refer(ada, "URL", "${shared:DSN}")
        assert.strictEqual(yield* read(ada, "URL"), "db://shared.internal")
        yield* removeSecret(ada, "HOST", { ...shared, force: true })
        assert.deepStrictEqual(yield* exported(ada), { values: { HOST: "prod.internal" }, failed: ["URL"] })
      }).pipe(withReferences)
  )

  it.effect(
    "passwords with $ are not reinterpreted once a project has references, and what is not there is never blank",
    () =>
      Effect.gen(function* () {
        const { ada } = yield* scene
        const passwords = { P1: "pa$$word", P2: "a${HOST}b", P3: "${NOT_THERE}", P4: "$1 $& ${", P5: "" }
        for (const [key, password] of Object.entries(passwords)) yield* setSecret(ada, key, password)
        yield* refer(ada, "ALL", "${P1}|${P2}|${P3}|${P4}|${P5}")
        const ALL = Object.values(passwords).join("|")
        assert.deepStrictEqual(yield* exported(ada), { values: { ALL, ...passwords }, failed: [] })
        assert.include(
          yield* refusal(refer(ada, "BAD", "${NOT_THERE}")),
          "BAD refers to NOT_THERE, which does not exist"
        )
        yield* removeSecret(ada, "P5", { force: true })
        assert.deepStrictEqual((yield* exported(ada)).failed, ["ALL"])
      }).pipe(withReferences)
  )

  // https://github.com/Infisical/infisical/issues/7613
  it.effect("a variable for another program beside a reference stays as it is, seen from any environment", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "ONE", "1", shared)
      yield* refer(ada, "MIXED", "${ONE} $${FOR_ENVSUBST}", "shared")
      yield* refer(ada, "BETWEEN", "between ${shared:MIXED}")
      assert.strictEqual(yield* read(ada, "MIXED", "shared"), "1 ${FOR_ENVSUBST}")
      assert.strictEqual(yield* read(ada, "BETWEEN"), "between 1 ${FOR_ENVSUBST}")
    }).pipe(withReferences)
  )
})
