import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runInProcess } from "../support/InProcess.js"

const key = (digit: string) => JSON.stringify(["printf", digit.repeat(64)])

const rotate = (variables: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runInProcess(["master-key", "rotate", "--db", "/nowhere/service.db", ...args], {
    PATH: process.env["PATH"] ?? "",
    ...variables
  })

describe("the keys of a rotation", () => {
  it.effect("may each come from a command", () =>
    Effect.gen(function* () {
      const commands = { SERVICE_MASTER_KEY_COMMAND: key("a"), SERVICE_NEW_MASTER_KEY_COMMAND: key("A") }
      const same = yield* rotate(commands)
      assert.match(same.stderr, /the new master key is the old one/)
      const other = yield* rotate({ ...commands, SERVICE_NEW_MASTER_KEY_COMMAND: key("b") })
      assert.match(other.stderr, /\/nowhere\/service\.db/)
    })
  )

  it.effect("are refused with the name of the variable whose command gives no key, or with the names that clash", () =>
    Effect.gen(function* () {
      const refused = (variables: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
        Effect.map(rotate({ SERVICE_MASTER_KEY_COMMAND: key("a"), ...variables }, ...args), ({ code, stderr }) => {
          assert.strictEqual(code, 2, stderr)
          return stderr.trim()
        })
      const malformed = "names a program that printed something else than 64 hexadecimal digits"
      const word = '["printf","hunter2"]'
      assert.strictEqual(
        yield* refused({ SERVICE_MASTER_KEY_COMMAND: word }),
        `coffer: SERVICE_MASTER_KEY_COMMAND ${malformed}`
      )
      assert.strictEqual(
        yield* refused({ SERVICE_NEW_MASTER_KEY_COMMAND: word }),
        `coffer: SERVICE_NEW_MASTER_KEY_COMMAND ${malformed}`
      )
      assert.strictEqual(
        yield* refused({ SERVICE_MASTER_KEY_FILE: "key" }),
        "coffer: SERVICE_MASTER_KEY_FILE and SERVICE_MASTER_KEY_COMMAND are both set: unset one of them"
      )
      assert.match(
        yield* refused({ SERVICE_NEW_MASTER_KEY_COMMAND: word }, "--generate", "--out", "new.key"),
        /--generate makes a new key/
      )
    })
  )
})
