import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { TestHome, type RunOptions } from "../support/Programs.js"
import { client, Terminal } from "../support/Terminal.js"
import { node } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

/** A folder of its own, without a service.yml. */
const folder = (name: string) => {
  const path = join(place.home.folder, name)
  mkdirSync(path)
  return path
}

const init = (cwd: string, args: ReadonlyArray<string>, options: RunOptions = {}) =>
  place.home.coffer(["init", ...args], { ...options, cwd })

describe("init", () => {
  it.each([
    ["org", ["--org", "globex"], /^coffer: there is no organization globex, or you may not see it; coffer org list /],
    [
      "project",
      ["--org", "acme", "--project", "webshp"],
      /no project webshp in acme, .*coffer project list --org acme /
    ],
    ["env", ["--org", "acme", "--project", "webshop", "--env", "prd"], /no environment prd in acme\/webshop, /]
  ])("writes no %s that the server does not have", async (name, args, problem) => {
    const cwd = folder(`init-${name}`)
    const { code, stderr, stdout } = await init(cwd, args)
    assert.deepStrictEqual([code, stdout], [4, ""], stderr)
    assert.match(stderr, problem)
    assert.isFalse(existsSync(join(cwd, "service.yml")))
  })

  it("writes what it cannot check, and says so", async () => {
    const stranger = new TestHome("http://127.0.0.1:1")
    const result = await stranger.coffer(["init", "--org", "acme"])
    const refused = await stranger.coffer(["init", "--force", "--org", "acme"], {
      env: { SERVICE_SERVER_URL: "http://127.0.0.1:1", SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}` }
    })
    for (const { code, stderr } of [result, refused]) {
      assert.strictEqual(code, 0)
      assert.match(stderr, /^coffer: what is at http:\/\/127\.0\.0\.1:1 could not be looked up: [^\n]+\n/)
      assert.match(
        stderr,
        /\ncoffer: the file names no project and no env: name all with coffer init acme\/PROJECT\/ENV --force\n$/
      )
    }
    assert.include(readFileSync(join(stranger.folder, "service.yml"), "utf8"), 'org: "acme"\n')
    stranger.remove()
  })

  it("asks nothing else where there is a service.yml already, and keeps it without a yes", async () => {
    const before = readFileSync(join(place.home.folder, "service.yml"), "utf8")
    const terminal = Terminal.coffer(place.home, "init")
    await terminal.sees("service.yml? [y/N]")
    terminal.type("\r")
    await terminal.sees("service.yml stays as it is: nothing was written")
    assert.strictEqual(await terminal.ended(), 1)
    assert.notInclude(terminal.screen, "empty to leave it out")
    const refused = await place.home.coffer(["init"])
    assert.match(refused.stderr, /service\.yml already exists; to overwrite it, add --force\n$/)
    assert.strictEqual(readFileSync(join(place.home.folder, "service.yml"), "utf8"), before)
  })
})

describe("login at a terminal", () => {
  it("asks again after a wrong code, for a new code: the server takes each once", async () => {
    const other = new TestHome(place.server.url)
    const terminal = new Terminal(other, [node, client, "login", "--email", "joe@example.com"])
    const first = await place.server.code("joe@example.com")
    const wrong = first === "000000" ? "000001" : "000000"
    await terminal.answer("Code: ", `${wrong}\r`)
    await terminal.sees("a new one is on its way")
    await terminal.sees("Code: ")
    terminal.type(`${await place.server.code("joe@example.com")}\r`)
    await terminal.sees("logged in to")
    assert.strictEqual(await terminal.ended(), 0)
    other.remove()
  })

  it("ends after three wrong codes", async () => {
    const other = new TestHome(place.server.url)
    const terminal = new Terminal(other, [node, client, "login", "--email", "jim@example.com"])
    for (let times = 0; times < 3; times++) {
      await terminal.sees("Code: ")
      const code = await place.server.code("jim@example.com")
      terminal.type(`${code === "000000" ? "000001" : "000000"}\r`)
    }
    await terminal.sees("ask for a new one")
    assert.strictEqual(await terminal.ended(), 3)
    other.remove()
  })
})

describe("an export", () => {
  it.each([
    ["env", "# For dotenv and its like. A shell that sources this file would run commands in values"],
    ["docker", "# For docker run --env-file. A shell that sources this file would run commands in values"]
  ])("in the format %s says which reader it is for, and is imported again", async (format, head) => {
    await place.prints("secret", "set", "RUNS", "--", "$(touch planted)")
    const text = await place.prints("secret", "export", "--format", format)
    assert.strictEqual(text.slice(0, head.length), head)
    writeFileSync(join(place.home.folder, `out.${format}`), text)
    const again = await place.ok("secret", "import", `out.${format}`, "--format", format, "--env", "staging")
    assert.match(again.stdout, /^RUNS\t(created|unchanged)\t1$/m)
    rmSync(join(place.home.folder, `out.${format}`))
  })

  it("to a file with the name of a shell script can be sourced", async () => {
    await place.prints("secret", "set", "RUNS", "--", "it's $(touch planted)")
    await place.prints("secret", "export", "--output", "out.sh")
    const { code, stdout } = await place.home.shell('. ./out.sh; printf %s "$RUNS"')
    assert.deepStrictEqual([code, stdout], [0, "it's $(touch planted)"])
    const { stdout: evaluated } = await place.home.shell(
      'eval "$($COFFER secret export --format shell)"; printf %s "$RUNS"'
    )
    assert.strictEqual(evaluated, stdout)
    assert.isFalse(existsSync(join(place.home.folder, "planted")))
  })
})
