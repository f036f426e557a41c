import { assert, describe, it } from "@effect/vitest"
import { splitRunArgv } from "../../src/run/RunArgv.js"

const none = { serverUrl: undefined, org: undefined, project: undefined, env: undefined, only: [], allowEnv: [] }

describe("splitRunArgv", () => {
  it("ends at the first argument that is not an option of run", () => {
    const cases = [
      [["ls"], none, "ls", []],
      [["--", "ls", "-l"], none, "ls", ["-l"]],
      [["ls", "--env", "prod", "--", "x"], none, "ls", ["--env", "prod", "--", "x"]],
      [["--env", "prod", "ls"], { ...none, env: "prod" }, "ls", []],
      [["--env=prod", "--org=a=b", "--", "--help"], { ...none, env: "prod", org: "a=b" }, "--help", []],
      [["--only", "A,B", "--only=C", "x"], { ...none, only: ["A", "B", "C"] }, "x", []],
      [["--allow-env", "PATH", "--allow-env", "IFS", "x"], { ...none, allowEnv: ["PATH", "IFS"] }, "x", []],
      [["--project", "--env", "x"], { ...none, project: "--env" }, "x", []],
      [["-", "-h"], none, "-", ["-h"]],
      [["--", ""], none, "", []]
    ] as const
    for (const [argv, options, command, args] of cases) {
      assert.deepStrictEqual<unknown>(splitRunArgv(argv), { type: "run", options, command, args })
    }
  })

  it("gives help, but not in the command's place", () => {
    assert.strictEqual(splitRunArgv(["--help"]).type, "help")
    assert.strictEqual(splitRunArgv(["--env", "prod", "-h"]).type, "help")
    assert.strictEqual(splitRunArgv(["ls", "--help"]).type, "run")
  })

  it("refuses what it does not know", () => {
    for (const argv of [
      [],
      ["--"],
      ["--env", "x"],
      ["--env"],
      ["--env=", "x"],
      ["-x", "ls"],
      ["--Env", "a", "x"],
      ["--__proto__", "x"]
    ]) {
      assert.strictEqual(splitRunArgv(argv).type, "wrong", argv.join(" "))
    }
    assert.strictEqual(splitRunArgv(["--env", "a", "--env", "b", "x"]).type, "wrong")
  })
})
