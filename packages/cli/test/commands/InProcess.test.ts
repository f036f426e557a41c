import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runInProcess } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const at = ["--org", "acme", "--project", "webshop", "--env", "dev"]

describe("a command in this process", () => {
  it.live("reads standard input and writes standard output", () =>
    Effect.gen(function* () {
      const env = place.home.environment
      const set = yield* runInProcess(["secret", "set", "PIPED", ...at], env, { input: "value\n" })
      assert.deepStrictEqual(set, {
        code: 0,
        stdout: "PIPED stored in webshop/dev as version 1\n",
        stderr: "coffer: the value ends with a newline, which is stored too; printf writes none\n"
      })
      const get = yield* runInProcess(["secret", "get", "PIPED", ...at], env)
      assert.deepStrictEqual(get, { code: 0, stdout: "value\n", stderr: "" })
    })
  )

  it.live("asks a person, and changes nothing without a yes", () =>
    Effect.gen(function* () {
      const env = place.home.environment
      yield* runInProcess(["org", "create", "passing"], env)
      const remove = (answers?: ReadonlyArray<string>) =>
        runInProcess(["org", "delete", "--org", "passing"], env, answers === undefined ? {} : { answers })
      const question =
        "This deletes the organization passing with all its projects and secrets. Type passing to go on: "
      assert.deepStrictEqual(yield* remove(), {
        code: 2,
        stdout: "",
        stderr: "coffer: nobody can be asked here: add --yes to continue without a question\n"
      })
      assert.deepStrictEqual(yield* remove(["y"]), {
        code: 1,
        stdout: "",
        stderr: `${question}coffer: that is another name: nothing was changed\n`
      })
      const done = yield* remove(["passing"])
      assert.deepStrictEqual([done.code, done.stdout], [0, "organization passing deleted\n"])
      assert.match(done.stderr, /bring it back with: coffer org restore passing\n$/)
      assert.strictEqual((yield* runInProcess(["org", "get", "--org", "passing"], env)).code, 4)
    })
  )

  it.live("is interrupted where the input ends at a question", () =>
    Effect.gen(function* () {
      const env = place.home.environment
      const exit = yield* Effect.exit(runInProcess(["secret", "set", "TYPED", ...at], env, { answers: [] }))
      assert.isTrue(exit._tag === "Failure" && exit.cause._tag !== "Fail")
      assert.strictEqual((yield* runInProcess(["secret", "get", "TYPED", ...at], env)).code, 4)
    })
  )

  it.live("aligns a table at a terminal alone", () =>
    Effect.gen(function* () {
      const env = place.home.environment
      const list = (isTerminal: boolean) =>
        Effect.map(runInProcess(["env", "list", ...at.slice(0, 4)], env, { isTerminal }), ({ stdout }) => stdout)
      assert.match(yield* list(true), /^NAME {5}CREATED\ndev {6}\d/)
      assert.match(yield* list(false), /^dev\t\d/)
    })
  )

  it.live("names a server that does not answer", () =>
    Effect.gen(function* () {
      const env = { SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}` }
      const { code, stderr, stdout } = yield* runInProcess(["org", "list", "--server-url", "http://127.0.0.1:1"], env)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^coffer: cannot reach http:\/\/127\.0\.0\.1:1: [^\n]+\n$/)
    })
  )
})
