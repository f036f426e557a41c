import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const settings = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }

const coffer = (line: string, options: TerminalOptions = {}, env: Record<string, string> = {}) =>
  Effect.runPromise(runInProcess(line.split(" "), { ...place.home.environment, ...settings, ...env }, options))

const file = (name: string, text: string) => {
  const path = join(place.home.folder, name)
  writeFileSync(path, text)
  return path
}

/** Codes of the system, and words of libraries. */
const raw = /\bE[A-Z0-9]{3,}\b|Error:|Nested mappings|compact mappings|flow collection|node:/

beforeAll(async () => {
  mkdirSync(join(place.home.folder, "folder"))
  await place.ok("service-account", "create", "ci", "--no-key")
}, 300_000)

describe("a message about a file", () => {
  it.each([
    ["a missing one", "secret import missing.env --format env", /missing\.env cannot be read: it does not exist/],
    ["a directory", "secret import folder --format env", /folder cannot be read: it is a directory/],
    ["a part of a path", "secret import one.env/two.env", /cannot be read: a part of its path is not a directory/],
    [
      "keys of an issuer",
      "service-account trust ci --kubernetes a/b --jwks missing",
      /missing cannot be read: it does not/
    ]
  ])("says in words what is wrong with %s", async (_, line, says) => {
    file("one.env", "A=1\n")
    const path = (word: string) => (/^(missing|folder|one)/.test(word) ? join(place.home.folder, word) : word)
    const { code, stderr } = await coffer(line.split(" ").map(path).join(" "))
    assert.isAbove(code, 0)
    assert.match(stderr, says)
    assert.notMatch(stderr, raw)
  })

  it.each([
    ["SERVICE_API_KEY_FILE", "secret list", /SERVICE_API_KEY_FILE: .*missing cannot be read: it does not exist/],
    [
      "SERVICE_MASTER_KEY_FILE",
      "master-key rotate --db x.db",
      /SERVICE_MASTER_KEY_FILE must name .*: it does not exist/
    ]
  ])("says so of the file of %s", async (name, line, says) => {
    const { code, stderr } = await coffer(line, {}, { [name]: join(place.home.folder, "missing") })
    assert.isAbove(code, 0)
    assert.match(stderr, says)
    assert.notMatch(stderr, raw)
  })

  it("has its words from one table: no other place shows the code of the system", () => {
    const roots = ["../../src", "../../../client/src", "../../../mcp/src"].map((path) =>
      fileURLToPath(new URL(path, import.meta.url))
    )
    const tables = /(?:FileError|ConnectionProblem)\.ts$/
    const files = roots.flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => join(root, name))
    )
    const shown = files
      .filter((name) => name.endsWith(".ts") && !tables.test(name))
      .filter((name) => /\$\{codeOf\(|\(\$\{(?:String\(code\)|code)\}\)/.test(readFileSync(name, "utf8")))
    assert.deepStrictEqual(shown, [])
  })

  it("says in words what is wrong with service.yml", async () => {
    const folder = join(place.home.folder, "folder")
    for (const [text, says] of [
      ["org: a: b\n", /line 1: not valid YAML: there is a second colon/],
      ['org: "acme\n', /not valid YAML: quotes that begin on this line or above do not close/],
      ["org: [a\n", /not valid YAML: /]
    ] as const) {
      writeFileSync(join(folder, "service.yml"), text)
      const { code, stderr } = await place.home.coffer(["secret", "list"], { cwd: folder })
      assert.strictEqual(code, 2)
      assert.match(stderr, says)
      assert.notMatch(stderr, raw)
    }
  })
})

describe("a number of things", () => {
  it("is one thing where there is one", async () => {
    const path = file("single.env", "SINGLE=1\n")
    const { code, stderr } = await coffer(`secret import ${path} --yes`, { isTerminal: true, width: 80, answers: [] })
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "1 secret checked")
    assert.include(stderr, "writing 1 secret")
    assert.notMatch(stderr, /\b1 secrets/)
  })
})

describe("a deleted secret", () => {
  it("is a record for machines, and for people a sentence with the way back", async () => {
    assert.strictEqual((await coffer("secret set GONE one")).code, 0)
    const one = await coffer("secret delete GONE --yes")
    assert.strictEqual(one.stdout, "GONE deleted from webshop/dev\n")
    assert.match(one.stderr, /^coffer: bring it back with: coffer secret undelete GONE --env acme\/webshop\/dev/)
    const [, back = ""] = /with: coffer (.*)\n/.exec(one.stderr) ?? []
    assert.strictEqual((await coffer(back)).code, 0)
    const json = await coffer("secret delete GONE --yes --json")
    assert.deepStrictEqual([json.code, json.stderr], [0, ""])
    assert.deepStrictEqual(JSON.parse(json.stdout), { data: [{ key: "GONE", change: "deleted" }] })
  })
})

describe("audit list --since", () => {
  it("takes a span before now, and refuses a number alone", async () => {
    const recent = await coffer("audit list --since 24h")
    assert.strictEqual(recent.code, 0, recent.stderr)
    assert.include(recent.stdout, "ada@example.com")
    const none = await coffer("audit list --since 0s")
    assert.deepStrictEqual([none.stdout, none.stderr], ["", "coffer: there are no such entries\n"])
    assert.strictEqual((await coffer("audit list --since yesterday")).code, 0)
    for (const wrong of ["24", "tomorrow", "24 h"]) {
      const refused = await Effect.runPromise(
        runInProcess(["audit", "list", "--since", wrong], { ...place.home.environment, ...settings })
      )
      assert.strictEqual(refused.code, 2)
      assert.match(refused.stderr, /--since must be a date, a date and time with a zone .*24h or 7d, or yesterday/)
    }
  })
})

describe("times of options that take seconds", () => {
  it("may have a unit", async () => {
    await coffer("service-account create rotated")
    const { code, stderr } = await coffer("service-account rotate rotated --grace 1h")
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "its old key stays good for 3600 s")
    const wrong = await coffer("service-account rotate rotated --grace 8d")
    assert.deepStrictEqual(
      [wrong.code, /--grace must be a whole number of seconds from 0/.test(wrong.stderr)],
      [2, true]
    )
  })
})

describe("an account without a key", () => {
  it("is not said to sign in with one", async () => {
    await coffer("service-account create keyless --no-key")
    await coffer("service-account create keyed")
    const none = await coffer("service-account trust list keyless")
    assert.match(none.stderr, /service account keyless has no key and trusts nobody, so nothing signs in as it/)
    assert.include(none.stderr, "coffer service-account rotate keyless")
    assert.include((await coffer("service-account trust list keyed")).stderr, "keyed signs in with its key alone")
  })
})

describe("request list on a terminal of 80 columns", () => {
  it("has who asks, why, and for what, and the same change again names the request that waits", async () => {
    const call = (path: string, body: unknown) => place.server.call("PUT", path, { token: place.home.token, body })
    await call("/api/orgs/acme/projects/webshop/envs/prod/protection", { approvers: "owners", needed: 1, self: true })
    const ask = () => coffer("secret set DATABASE_URL postgres://somewhere --env prod --reason INC-12")
    const first = await ask()
    assert.strictEqual(first.code, 5, first.stderr)
    const [, id = ""] = /request (\S+) waits until/.exec(first.stderr) ?? []
    const again = await ask()
    assert.strictEqual(again.code, 5)
    assert.include(
      again.stderr,
      `you asked for the same change of webshop/prod before, and request ${id} still waits until`
    )
    const { stdout } = await coffer("request list", { isTerminal: true, width: 80 })
    const [head = "", line = "", ...rest] = stdout.trimEnd().split("\n")
    assert.deepStrictEqual(rest, [])
    for (const title of ["ID", "ASKS FOR", "REQUESTER", "REASON", "PLACE"]) assert.include(head, title)
    for (const text of [id.slice(0, 8), "DATABASE_URL", "ada@example.com", "INC-12", "webshop/prod"]) {
      assert.include(line, text)
    }
    assert.isAtMost(Math.max(head.length, line.length), 80)
  })
})
