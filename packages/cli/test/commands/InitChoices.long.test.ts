import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { TestHome } from "../support/Programs.js"
import { runInProcess } from "../support/InProcess.js"
import { client, Terminal } from "../support/Terminal.js"
import { node } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const start = process.cwd()

beforeEach(() => process.chdir(mkdtempSync(join(place.home.folder, "init-"))))

afterEach(() => process.chdir(start))

const written = () =>
  existsSync("service.yml") ? readFileSync("service.yml", "utf8").split("\n").slice(1, -1) : undefined

const init = (args: ReadonlyArray<string>, answers?: ReadonlyArray<string>, env = place.home.environment) =>
  runInProcess(["init", ...args], env, answers === undefined ? {} : { answers })

describe("init at a terminal", () => {
  it.live("offers what is there, by number or name", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* init([], ["1", "webshop", " 2 "])
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "webshop"', 'env: "staging"'])
      assert.strictEqual(
        stderr,
        [
          "Organizations:",
          "  1  acme",
          "org (Enter for acme, another name to create it, - to leave it out): Projects in acme:",
          "  1  webshop",
          "project (Enter for webshop, another name to create it, - to leave it out): Environments in acme/webshop:",
          "  1  dev",
          "  2  staging",
          "  3  prod",
          "env (number, name, or a new name to create it, empty to leave it out): "
        ].join("\n")
      )
    })
  )

  it.live("takes the only organization and project on Enter", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* init([], ["", "", "dev"])
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "webshop"', 'env: "dev"'])
    })
  )

  it.live("asks no more of what is given, and nothing of what is inside of what is left out", () =>
    Effect.gen(function* () {
      const given = yield* init(["--org", "acme", "--project", "webshop"], ["dev"])
      assert.strictEqual(given.code, 0, given.stderr)
      assert.notInclude(given.stderr, "Organizations")
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "webshop"', 'env: "dev"'])
      const left = yield* init(["--force"], ["-", "some", ""])
      assert.strictEqual(left.code, 0, left.stderr)
      assert.notInclude(left.stderr, "Projects")
      assert.deepStrictEqual(written(), ['project: "some"'])
    })
  )

  it.live("creates what a person types as an answer, and asks again where it resembles another name", () =>
    Effect.gen(function* () {
      const answers = ["globex", "Shop!", "shop", "stagin", "", "prdo", "n", "qa"]
      const { code, stderr } = yield* init([], answers)
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(written(), ['org: "globex"', 'project: "shop"', 'env: "qa"'])
      assert.include(
        stderr,
        "there is no environment stagin in globex/shop, or you may not see it; did you mean staging? Create stagin? [y/N] "
      )
      assert.lengthOf(stderr.match(/ Create /g) ?? [], 2)
      assert.include(stderr, "coffer: organization globex created\n")
      assert.include(stderr, "env (Enter for dev, number, name, or a new name to create it, - to leave it out): ")
      assert.include(
        stderr,
        "There is no project in globex yet.\nproject (a name to create it, empty to leave it out): "
      )
      assert.include(stderr, 'coffer: "Shop!": a project name has 2 to 50 characters')
      const list = yield* Effect.promise(() => place.prints("env", "list", "--org", "globex", "--project", "shop"))
      assert.deepStrictEqual(
        list.split("\n").map((line) => line.split("\t")[0]),
        ["dev", "qa", "staging", "prod", ""]
      )
    })
  )

  it.live("offers to create a missing project or environment that an option names, and stops after a no", () =>
    Effect.gen(function* () {
      const refused = yield* init(["--org", "acme", "--project", "webshp"], [""])
      assert.strictEqual(refused.code, 4)
      assert.match(
        refused.stderr,
        /no project webshp in acme, .* Create it\? \[y\/N\] coffer: there is no project webshp in acme, /
      )
      assert.isUndefined(written())
      const agreed = yield* init(["--env", "acme/webshop/preview"], [""])
      assert.strictEqual(agreed.code, 0, agreed.stderr)
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "webshop"', 'env: "preview"'])
      assert.include(yield* Effect.promise(() => place.prints("env", "list")), "preview\t")
    })
  )

  it.live("asks once for a place of which every part is missing", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* init(["initech/billing/qa"], [""])
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(
        stderr,
        [
          "there is no organization initech, or you may not see it. Create it? [Y/n] coffer: organization initech created",
          "coffer: project billing in initech created",
          "coffer: environment qa in initech/billing created",
          ""
        ].join("\n")
      )
    })
  )

  it.live("takes a name that looks like a number for a name", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => place.ok("project", "create", "22"))
      for (let index = 10; index < 32; index++) {
        yield* Effect.promise(() => place.ok("project", "create", `many-${index}`))
      }
      const { stderr } = yield* init(["--org", "acme"], ["22", ""])
      assert.include(stderr, "\n  22  ")
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "22"'])
    })
  )

  it.live("says once that it cannot look, and takes what is typed", () =>
    Effect.gen(function* () {
      const env = {
        HOME: place.home.folder,
        SERVICE_SERVER_URL: "http://127.0.0.1:1",
        SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}`
      }
      const { code, stderr } = yield* init([], ["acme", "w", "webshop", "dev"], env)
      assert.strictEqual(code, 0, stderr)
      assert.lengthOf(
        stderr.match(/what is at http:\/\/127\.0\.0\.1:1 could not be looked up: cannot reach /g) ?? [],
        1
      )
      assert.deepStrictEqual(written(), ['org: "acme"', 'project: "webshop"', 'env: "dev"'])
    })
  )

  it("works at a real terminal", async () => {
    const home = new TestHome(place.server.url)
    await place.ok("org", "create", "with-one")
    await place.ok("project", "create", "webshop", "--org", "with-one")
    const terminal = new Terminal(place.home, [node, client, "init"], { cwd: home.folder })
    await terminal.sees("  1  acme")
    await terminal.answer("org (number, name, or a new name to create it, empty to leave it out): ", "with-one\r")
    await terminal.answer("project (Enter for webshop, another name to create it, - to leave it out): ", "\r")
    await terminal.answer("env (number, name, or a new name to create it, empty to leave it out): ", "dev\r")
    await terminal.sees("wrote ")
    assert.strictEqual(await terminal.ended(), 0)
    assert.include(readFileSync(join(home.folder, "service.yml"), "utf8"), 'env: "dev"\n')
    home.remove()
  })
})

describe("init at a terminal without a session", () => {
  const terminalIn = () => {
    const home = new TestHome(place.server.url)
    const terminal = new Terminal(home, [node, client, "init"], { cwd: home.folder })
    return { home, terminal, question: `You are not logged in to ${place.server.url}. Log in now? [Y/n] ` }
  }

  it("logs in on Enter, and goes on", async () => {
    const { home, question, terminal } = terminalIn()
    await terminal.answer(question, "\r")
    await terminal.answer("E-mail: ", "ada@example.com\r")
    await terminal.answer("Code: ", `${await place.server.code("ada@example.com")}\r`)
    await terminal.answer("org (number or name, empty to leave it out): ", "acme\r")
    await terminal.answer("project (Enter for webshop, another name to create it, - to leave it out): ", "\r")
    await terminal.answer("env (number or name, empty to leave it out): ", "dev\r")
    await terminal.sees("wrote ")
    assert.strictEqual(await terminal.ended(), 0)
    const { stdout } = await home.coffer(["whoami"], { cwd: home.folder })
    assert.include(stdout, "ada@example.com")
    home.remove()
  })

  it("takes what is typed, if the person says no", async () => {
    const { home, question, terminal } = terminalIn()
    await terminal.answer(question, "n\r")
    await terminal.sees("there is no session at")
    await terminal.answer("org (empty to leave it out): ", "acme\r")
    await terminal.answer("project (empty to leave it out): ", "\r")
    await terminal.answer("env (empty to leave it out): ", "\r")
    assert.strictEqual(await terminal.ended(), 0)
    assert.include(readFileSync(join(home.folder, "service.yml"), "utf8"), 'org: "acme"\n')
    home.remove()
  })
})

describe("init without a terminal", () => {
  it.live("writes no file with the address alone, and says what to give", () =>
    Effect.gen(function* () {
      const env = { HOME: place.home.folder, SERVICE_SERVER_URL: "http://127.0.0.1:1" }
      const { code, stderr } = yield* init([], undefined, env)
      assert.deepStrictEqual(
        [code, stderr],
        [
          2,
          "coffer: nobody can be asked here for the place, and nothing was written: name it, as in coffer init ORG/PROJECT/ENV; coffer org list shows the organizations\n"
        ]
      )
      assert.isUndefined(written())
      const named = yield* init(["--server-url", "http://127.0.0.1:1"], undefined, env)
      assert.strictEqual(named.code, 0, named.stderr)
      assert.deepStrictEqual(written(), [])
      const given = yield* init(["--force"], undefined, { ...env, SERVICE_ORG: "acme" })
      assert.strictEqual(given.code, 0, given.stderr)
      assert.deepStrictEqual(written(), ['org: "acme"'])
    })
  )

  it.live("creates nothing", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* init(["--org", "missing"])
      assert.deepStrictEqual(
        [code, stderr],
        [4, "coffer: there is no organization missing, or you may not see it; coffer org list shows what there is\n"]
      )
      assert.isUndefined(written())
    })
  )
})
