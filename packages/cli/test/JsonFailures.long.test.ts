import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { tree } from "../src/Commands.js"
import { failureFormOf } from "../src/program/FailureForm.js"
import { runInProcess } from "./support/InProcess.js"

/** Nothing listens there. */
const env = {
  SERVICE_SERVER_URL: "http://127.0.0.1:1",
  SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}`,
  HOME: "/nonexistent"
}

const envelopeOf = (stderr: string) => {
  const lines = stderr.trimEnd().split("\n")
  const parsed: unknown = JSON.parse(lines.at(-1) ?? "")
  assert.hasAllKeys(parsed, ["error"])
  const { error } = JSON.parse(lines.at(-1) ?? "")
  assert.hasAllKeys(error, ["code", "message"])
  assert.match(error.code, /^[A-Z_]+$/)
  assert.isAbove(error.message.length, 5)
  return error
}

const leaves = tree.sections
  .flatMap(({ rows }) => rows)
  .flatMap(({ nodes }) => nodes)
  .flatMap((node) =>
    node.type === "group"
      ? node.commands.map((leaf) => ({ words: [node.name, ...leaf.name.split(" ")], leaf }))
      : [{ words: node.name.split(" "), leaf: node }]
  )
  .filter(({ leaf }) => leaf.options.some(({ name }) => name === "json"))

it.effect("version --json prints a record", () =>
  Effect.map(runInProcess(["version", "--json"], env), ({ code, stdout }) => {
    assert.strictEqual(code, 0)
    assert.hasAllKeys(JSON.parse(stdout), ["version"])
  })
)

describe("a failure under --json", () => {
  it.effect.each(leaves.map(({ words }) => [words.join(" ")] as const))(
    "of wrong usage of %s is an envelope",
    ([line]) =>
      Effect.gen(function* () {
        const { code, stderr, stdout } = yield* runInProcess([...line.split(" "), "--no-such-option", "--json"], env)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.strictEqual(envelopeOf(stderr).code, "WRONG_USAGE")
      })
  )

  it.effect("is an envelope for what the client cannot do, and a sentence without it", () =>
    Effect.gen(function* () {
      const missing = yield* runInProcess(["secret", "list", "--json"], env)
      assert.strictEqual(missing.code, 2)
      assert.include(envelopeOf(missing.stderr), { code: "MISSING_SETTINGS" })
      const unknown = yield* runInProcess(["nothing", "--json"], env)
      assert.include(envelopeOf(unknown.stderr), { code: "WRONG_USAGE" })
      const group = yield* runInProcess(["secret", "--json"], env)
      assert.lengthOf(group.stderr.trimEnd().split("\n"), 1)
      assert.include(envelopeOf(group.stderr), { code: "WRONG_USAGE" })
      const prose = yield* runInProcess(["secret", "list"], env)
      assert.match(prose.stderr, /^coffer: no organization is given/)
    })
  )

  it.live("names a server that cannot be reached", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* runInProcess(["org", "list", "--json"], env)
      assert.deepStrictEqual([code, envelopeOf(stderr).code], [1, "SERVER_UNREACHABLE"])
    })
  )

  it("belongs to the command, not to the program behind --", () => {
    assert.strictEqual(failureFormOf(["secret", "list", "--json"]), "json")
    assert.strictEqual(failureFormOf(["run", "--", "tool", "--json"]), "sentence")
  })
})
