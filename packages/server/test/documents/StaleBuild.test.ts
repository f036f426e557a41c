import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { problem } from "../../../../scripts/stale-build.mjs"

let folder = ""
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "coffer-stale-"))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a file that was last changed so many seconds after a day of 2026. */
const write = (path: string, seconds: number) => {
  const file = join(folder, "packages", path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, "")
  const time = 1_767_225_600 + seconds
  utimesSync(file, time, time)
}

const buildAll = (seconds: number) => {
  for (const name of ["cli", "mcp", "server"]) write(`${name}/dist/bundle/main.js`, seconds)
}

describe("a run of tests", () => {
  it("does not warn of programs younger than all sources", () => {
    write("domain/src/base/Ids.ts", 1)
    buildAll(2)
    assert.isUndefined(problem(folder))
  })

  it("names a missing program and the command to build it", () => {
    write("domain/src/base/Ids.ts", 1)
    assert.strictEqual(problem(folder), "the program of packages/cli is not built. Run npm run build")
  })

  it("names a program older than a source of another package, and that source", () => {
    buildAll(2)
    write("domain/src/base/Ids.ts", 1)
    write("domain/src/base/Names.ts", 3)
    write("cli/dist/bundle/main.js", 4)
    assert.match(
      problem(folder) ?? "",
      /^the program of packages\/mcp is older than packages\/domain\/src\/base\/Names\.ts: .* Run npm run build$/
    )
  })
})
