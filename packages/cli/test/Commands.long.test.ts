import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { TestHome, node, until } from "./support/Programs.js"
import { workplace } from "./support/Workplace.js"

const place = workplace()
const { prints } = place

/** The one sentence with which a command fails. */
const fails = async (code: number, args: ReadonlyArray<string>, options: Parameters<TestHome["coffer"]>[1] = {}) => {
  const result = await place.home.coffer(args, options)
  assert.strictEqual(result.code, code, `${args.join(" ")}: ${result.stderr}`)
  assert.strictEqual(result.stdout, "")
  assert.match(result.stderr, /^coffer: [^\n]+\n$/)
  assert.notMatch(result.stderr, /_tag|\bat .*:\d+:\d+|\x1b/)
  return result.stderr
}

describe("the command line", () => {
  it("answers --version, and the help without colours where nobody sees them", async () => {
    assert.match(await prints("--version"), /^\d+\.\d+\.\d+\n$/)
    const help = await prints("--help")
    assert.include(help, "coffer init")
    assert.notInclude(help, "\x1b")
    assert.include(await prints("run", "--help"), "--allow-env")
  })

  it("is refused with code 2 where it is wrong", async () => {
    await fails(2, ["bogus"])
    await fails(2, ["secret", "get"])
    await fails(2, ["secret", "get", "--bogus"])
    await fails(2, ["secret", "get", "1bad"])
    await fails(2, ["Secret", "list"])
    await fails(2, ["secret", "set", "KEY", "value", "--file", "x"])
    await fails(2, ["secret", "set", "KEY", "--vlaue"])
    await fails(2, ["secret", "delete", "KEY"])
    await fails(2, ["session", "end"])
    await fails(2, ["secret", "list", "--env", "Not A Name"])
  })

  it("shows the help and is refused where a command is missing, and only then", async () => {
    for (const [group, ...words] of [["secret"], ["acl", "--"], []]) {
      const { code, stderr, stdout } = await place.home.coffer(group === undefined ? [] : [group, ...words])
      const name = ["coffer", ...(group === undefined ? [] : [group])].join(" ")
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, new RegExp(`^USAGE\\s+${name} COMMAND\\b`))
      assert.isTrue(stderr.endsWith(`\ncoffer: a command is missing: ${name} COMMAND\n`), stderr)
    }
    assert.match(await prints("secret", "--help"), /^USAGE\n/)
    const cwd = mkdtempSync(join(place.home.folder, "nothing-set-"))
    mkdirSync(join(cwd, ".git"))
    const env = { SERVICE_SERVER_URL: "" }
    assert.match((await place.home.coffer([], { cwd, env })).stderr, /COMMAND; nothing is set .* coffer init\n$/)
  })

  it("takes options before and after arguments", async () => {
    await prints("secret", "set", "--env", "prod", "WHERE", "before")
    await prints("secret", "set", "WHERE", "after", "--env", "staging")
    assert.strictEqual(await prints("secret", "get", "WHERE", "--env", "prod"), "before")
    assert.strictEqual(await prints("secret", "get", "--env", "staging", "WHERE"), "after")
  })
})

describe("a value", { timeout: 120_000 }, () => {
  it("comes and goes byte for byte, from an argument, a file or standard input", async () => {
    const text = "line one\r\nline two\n\ttab é😀\n\n"
    await prints("secret", "set", "ARG", text)
    assert.strictEqual(await prints("secret", "get", "ARG"), text)
    writeFileSync(join(place.home.folder, "value"), `\ufeff${text}`)
    await prints("secret", "set", "FILE", "--file", "value")
    assert.strictEqual(await prints("secret", "get", "FILE"), `\ufeff${text}`)
    const piped = await place.home.coffer(["secret", "set", "PIPE"], { input: "no newline" })
    assert.deepInclude(piped, { code: 0, stderr: "" })
    assert.strictEqual(await prints("secret", "get", "PIPE"), "no newline")
    await prints("secret", "set", "EMPTY", "")
    assert.strictEqual(await prints("secret", "get", "EMPTY"), "")
    await prints("secret", "set", "DASH", "--", "--not-an-option")
    assert.strictEqual(await prints("secret", "get", "DASH"), "--not-an-option")
  })

  it("is refused where it is not text, too large, or nothing", async () => {
    assert.include(await fails(1, ["secret", "set", "BAD"], { input: Buffer.from([0xff, 0xfe]) }), "UTF-8")
    assert.include(await fails(1, ["secret", "set", "BAD"], { input: "x".repeat(65_537) }), "64 KB")
    assert.include(await fails(2, ["secret", "set", "BAD"]), "empty")
    assert.include(await fails(1, ["secret", "set", "BAD", "--file", "missing"]), "missing")
    await fails(4, ["secret", "get", "BAD"])
  })

  it("is not written over a version that was not expected", async () => {
    await prints("secret", "set", "GUARDED", "1", "--if-version", "0")
    await fails(1, ["secret", "set", "GUARDED", "2", "--if-version", "0"])
    await prints("secret", "set", "GUARDED", "2", "--if-version", "1")
    const record = JSON.parse(await prints("secret", "get", "GUARDED", "--json"))
    assert.deepStrictEqual(record, { key: "GUARDED", value: "2", version: 2 })
    await fails(1, ["secret", "delete", "GUARDED", "--yes", "--if-version", "1"])
    await prints("secret", "delete", "GUARDED", "--yes")
  })
})

describe("records", { timeout: 120_000 }, () => {
  it("are lists of lines, or the API's own", async () => {
    assert.match(await prints("env", "list"), /^dev\t\S+\nstaging\t\S+\nprod\t\S+\n$/)
    const { data } = JSON.parse(await prints("environment", "list", "--json"))
    assert.deepStrictEqual(Object.keys(data[0]), ["id", "name", "created_at", "updated_at"])
    const { type, email } = JSON.parse(await prints("whoami", "--json"))
    assert.deepStrictEqual({ type, email }, { type: "user", email: "ada@example.com" })
  })

  it("are made, renamed and deleted", async () => {
    await prints("project", "create", "temporary")
    await prints("project", "rename", "temporary", "other")
    assert.match(await prints("project", "get", "other"), /name\tother/)
    await prints("env", "create", "qa", "--project", "other")
    await prints("env", "delete", "qa", "--project", "other", "--yes")
    await prints("project", "delete", "other", "--yes")
    await fails(4, ["project", "get", "other"])
    await prints("org", "create", "passing")
    await prints("org", "rename", "passed", "--org", "passing")
    await prints("org", "delete", "--org", "passed", "--yes")
    await fails(4, ["org", "get", "--org", "passed"])
  })
})

describe("service.yml", () => {
  it("is not overwritten unless told so", async () => {
    const path = join(place.home.folder, "service.yml")
    const before = readFileSync(path, "utf8")
    assert.include(await fails(1, ["init", "--org", "other"]), "--force")
    assert.strictEqual(readFileSync(path, "utf8"), before)
    const told = await place.home.coffer(["init", "--force", "--org", "acme", "--project", "webshop", "--env", "dev"])
    assert.strictEqual(told.code, 0)
    assert.strictEqual(readFileSync(path, "utf8"), before)
  })

  it("sends no key to the server that it names", async () => {
    const thief = new TestHome("")
    writeFileSync(join(thief.folder, "service.yml"), "server_url: https://evil.example\norg: acme\n")
    const result = await thief.coffer(["project", "list"], {
      env: { SERVICE_SERVER_URL: "", SERVICE_API_KEY: "svc_sa_x" }
    })
    assert.strictEqual(result.code, 1)
    assert.match(result.stderr, /https:\/\/evil\.example comes from service\.yml and is not trusted.*coffer trust/)
    thief.remove()
  })
})

describe("a session", { timeout: 120_000 }, () => {
  it("is asked for in steps where there is no terminal, and kept for its owner alone", async () => {
    const other = new TestHome(place.server.url)
    const email = "bob@example.com"
    const asked = await other.coffer(["login", "--email", email])
    assert.include(asked.stdout, `continue with: coffer login --email ${email} --code CODE`)
    const code = await place.server.code(email)
    const pasted = `${code.slice(0, 3)} ${code.slice(3)}`
    assert.strictEqual((await other.coffer(["login", "--email", email, "--code", pasted])).code, 0)
    assert.strictEqual(statSync(other.session).mode & 0o777, 0o600)
    const { stdout } = await other.coffer(["session", "list", "--json"])
    const { data } = JSON.parse(stdout)
    assert.strictEqual(data.length, 1)
    assert.strictEqual(data[0].program, "cli")
    assert.isString(data[0].machine)
    const listed = await other.coffer(["session", "list"])
    assert.include(listed.stdout, `\tcoffer on ${data[0].machine}\t`)
    const others = await other.coffer(["session", "end", "--others", "--yes"])
    assert.include(others.stdout, "all other sessions ended")
    assert.strictEqual((await other.coffer(["whoami"])).code, 0)
    const ended = await other.coffer(["session", "end", data[0].id])
    assert.strictEqual(ended.code, 0, ended.stderr)
    assert.strictEqual((await other.coffer(["whoami"])).code, 3)
    other.remove()
  })

  it("is asked for again at a terminal where what was typed cannot be a code", async () => {
    const other = new TestHome(place.server.url)
    const coffer = `${node} ${join(import.meta.dirname, "../bin/coffer.js")}`
    const typing = other.spawn("script", ["-qec", `${coffer} login --email joe@example.com`, "/dev/null"])
    const code = await place.server.code("joe@example.com")
    let screen = ""
    typing.stdout?.on("data", (chunk: Buffer) => (screen += chunk.toString()))
    for (const [times, text] of ["12345", "", code].entries()) {
      await until(() => (screen.split("Code: ").length > times + 1 ? true : undefined), `a question after ${screen}`)
      typing.stdin?.write(`${text}\r`)
    }
    await once(typing, "close")
    assert.match(
      screen,
      /has 6 digits; type it again\r\n[^]*; type it again\r\n[^]*logged in to .* as joe@example\.com/
    )
    other.remove()
  })

  it("starts with a token from the server's operator, on standard input or at a prompt that does not show it", async () => {
    const { code, stdout: token, stderr } = await place.server.offline(["session", "grace@example.com"])
    assert.deepStrictEqual([code, stderr], [0, ""])
    const other = new TestHome(place.server.url)
    const sessionFile = other.session
    const refused = async (exit: number, says: RegExp, args: ReadonlyArray<string>, input = token) => {
      const result = await other.coffer(["login", ...args], { input })
      assert.deepStrictEqual([result.code, result.stdout], [exit, ""])
      assert.match(result.stderr, says)
      assert.notInclude(result.stderr, "svc_st_" + token.slice(7, 20))
      assert.throws(() => statSync(sessionFile))
    }
    await refused(2, /others: write --token -/, ["--token", token.trim()])
    await refused(2, /cannot be combined with --email/, ["--token", "-", "--email", "grace@example.com"])
    await refused(2, /no session token/, ["--token", "-"], "")
    await refused(2, /no session token/, ["--token", "-"], `${token.trim()}x`)
    await refused(2, /set SERVICE_API_KEY/, ["--token", "-"], `svc_sa_${token.slice(7)}`)
    await refused(3, /does not take this token/, ["--token", "-"], `svc_st_${"0".repeat(49)}\n`)

    const done = await other.coffer(["login", "--token", "-"], { input: token })
    assert.deepStrictEqual([done.code, done.stderr], [0, ""])
    assert.strictEqual(done.stdout, `logged in to ${place.server.url} as grace@example.com\n`)
    assert.strictEqual(statSync(sessionFile).mode & 0o777, 0o600)
    assert.include((await other.coffer(["whoami"])).stdout, "grace@example.com")
    other.remove()

    const terminal = new TestHome(place.server.url)
    const coffer = `${node} ${join(import.meta.dirname, "../bin/coffer.js")}`
    const typing = terminal.spawn("script", ["-qec", `${coffer} login --token -`, "/dev/null"])
    let screen = ""
    typing.stdout?.on("data", (chunk: Buffer) => (screen += chunk.toString()))
    await until(() => (screen.includes("Session token: ") ? true : undefined), "the prompt")
    typing.stdin?.write(`${token.trim()}\r`)
    await once(typing, "close")
    assert.include(screen, "logged in to")
    assert.notInclude(screen, token.trim())
    assert.include((await terminal.coffer(["whoami"])).stdout, "grace@example.com")
    terminal.remove()
  })

  it("ends at logout, here and at the server", async () => {
    const other = await place.server.login("eve@example.com")
    assert.strictEqual((await other.coffer(["logout"])).code, 0)
    assert.throws(() => statSync(other.session))
    const again = await other.coffer(["whoami"])
    assert.deepStrictEqual([again.code, again.stdout], [3, ""])
    assert.strictEqual((await other.coffer(["login"])).code, 2)
    assert.strictEqual((await other.coffer(["login", "--email", "eve@example.com", "--code", "000000"])).code, 3)
    other.remove()
  })
})
