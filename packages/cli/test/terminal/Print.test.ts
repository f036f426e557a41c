import { assert, describe, it } from "@effect/vitest"
import { NotFound, Unauthorized } from "@coffer/domain/errors/Errors"
import { ServerUnreachable, UnknownApiError } from "@coffer/client/internal/ClientErrors"
import { describe as tell } from "../../src/base/Describe.js"
import { plain, WrongUsage } from "../../src/base/Failures.js"
import { renderTable } from "../../src/terminal/Table.js"

describe("a table", () => {
  const rows = [
    ["DATABASE_URL", 12, null],
    ["é", 1, true]
  ]

  it("is aligned for people", () => {
    assert.strictEqual(
      renderTable(["key", "version", "by"], rows, { isTerminal: true, width: undefined }),
      "KEY           VERSION  BY\nDATABASE_URL  12       -\né             1        yes\n"
    )
  })

  it("is a line a row, cells between tabs, for programs", () => {
    assert.strictEqual(
      renderTable(["key", "version", "by"], rows, { isTerminal: false, width: undefined }),
      "DATABASE_URL\t12\t-\né\t1\tyes\n"
    )
  })

  it("lets no cell move the cursor or break its line", () => {
    assert.strictEqual(renderTable(["a"], [["x\x1b[2Jy\n\tz"]], { isTerminal: false, width: undefined }), "x [2Jy z\n")
  })
})

describe("a failure", () => {
  it("has an exit code by its kind, and a next step", () => {
    const cases = [
      [new WrongUsage({ message: "no" }), 2],
      [new Unauthorized({ message: "no" }), 3],
      [new NotFound({ message: "no" }), 4],
      [new UnknownApiError({ status: 418, code: "TEAPOT", message: "no." }), 1],
      [new ServerUnreachable({ url: "http://x", reason: "refused", transient: false, answered: false }), 1]
    ] as const
    for (const [failure, code] of cases) assert.strictEqual(tell(failure).exitCode, code)
    assert.strictEqual(tell(cases[3][0]).sentence, "no; this client does not know that response: update coffer")
    assert.match(tell(cases[4][0]).sentence, /^cannot reach http:\/\/x: refused; .*SERVICE_SERVER_URL/)
  })

  it("cannot write to the terminal what it likes", () => {
    assert.strictEqual(plain("a\x1b]0;evil\x07b\r\nc\x9bd"), "a ]0;evil b c d")
  })
})
