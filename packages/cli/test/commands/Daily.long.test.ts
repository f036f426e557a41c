import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { consolePath } from "../../src/commands/help/Open.js"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const run = (argv: ReadonlyArray<string>, options?: TerminalOptions, env: Readonly<Record<string, string>> = {}) =>
  runInProcess(
    argv,
    { ...place.home.environment, SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev", ...env },
    options
  )

const valueOf = async (key: string, env = "dev"): Promise<string> =>
  (await place.prints("get", key, "-e", env)).trimEnd()

describe("coffer set", () => {
  it("writes several secrets by one revision, and says how to take them back", async () => {
    const { stderr, stdout } = await place.ok("set", "A=1", "B=two words", "C=a=b", "D=", "-e", "staging")
    assert.strictEqual(stdout, "A\tcreated\t1\nB\tcreated\t1\nC\tcreated\t1\nD\tcreated\t1\n")
    assert.match(stderr, /undo: coffer env revert staging --to 0\n$/)
    assert.deepStrictEqual([await valueOf("B", "staging"), await valueOf("C", "staging")], ["two words", "a=b"])
    assert.match(
      await place.prints("env", "revisions", "staging"),
      /^1\t.*A created, B created, C created, D created\n$/
    )
  })

  it("writes one secret as KEY=VALUE, KEY VALUE and by standard input", async () => {
    assert.strictEqual(await place.prints("set", "ONE=-x"), "ONE stored in webshop/dev as version 1\n")
    assert.strictEqual(await valueOf("ONE"), "-x")
    await place.ok("set", "ONE", "B=2")
    assert.strictEqual(await valueOf("ONE"), "B=2")
    const piped = await place.home.coffer(["set", "ONE"], { input: "piped" })
    assert.deepStrictEqual([piped.code, await valueOf("ONE")], [0, "piped"])
    await place.ok("set", "WHOLE=postgres://${ONE}", "OTHER=${ONE}", "--expand")
    assert.strictEqual(await valueOf("WHOLE"), "postgres://piped")
  })

  it.each([
    [["A=1", "B"], /argument 2 is no KEY=VALUE/],
    [["A=1", "hunter2 ="], /argument 2 is no KEY=VALUE/],
    [["A=1", "A=hunter2"], /A is given twice/],
    [["A=1", "B=2", "--if-version", "0"], /--if-version is for one secret alone/],
    [["A=1", "B=2", "--file", "x"], /--file is for one secret alone/],
    [["A=hunter2", "--generate"], /--generate makes the value/],
    [["A", "my", "hunter2"], /unexpected argument 3 of coffer secret set: put a value with spaces in quotes/],
    [["A=1", "B=2", "--hunter2"], /argument 3 is no KEY=VALUE/]
  ] as const)("refuses %j and shows no value", async (words, sentence) => {
    const { code, stderr, stdout } = await place.home.coffer(["set", ...words])
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(stderr, sentence)
    assert.notInclude(stderr, "hunter2 =")
    assert.notMatch(stderr, /hunter2(?! is)/)
  })

  it.live("says once at a terminal that a value in an argument stays in the history", () =>
    Effect.gen(function* () {
      const warning = /a value in an argument stays in the shell's history/
      assert.notMatch((yield* run(["set", "HIST=1"])).stderr, warning)
      assert.match((yield* run(["set", "HIST=2", "HIST2=2"], { answers: [] })).stderr, warning)
      assert.notMatch((yield* run(["set", "HIST=3"], { answers: [] })).stderr, warning)
      assert.notMatch((yield* run(["set", "HIST", "4"], { answers: [] })).stderr, warning)
      assert.isTrue(existsSync(join(place.home.folder, ".local/state/coffer/warned-of-history")))
    })
  )
})

describe("coffer ls", () => {
  it("lists the keys of a place", async () => {
    await place.ok("set", "LISTED=1", "-p", "webshop", "-e", "prod")
    assert.match(await place.prints("ls", "acme/webshop/prod"), /^LISTED\t1\t/)
    assert.match(await place.prints("ls", "-e", "prod", "-j"), /"key": "LISTED"/)
    await place.ok("env", "create", "blank")
    const { stderr: empty } = await place.home.coffer(["ls", "blank"])
    assert.strictEqual(empty, "coffer: there are no secrets; store one with: coffer set KEY -e acme/webshop/blank\n")
    const configured = await place.home.coffer(["ls"], { env: { SERVICE_ENV: "blank" } })
    assert.strictEqual(configured.stderr, "coffer: there are no secrets; store one with: coffer set KEY\n")
    const both = await place.home.coffer(["ls", "prod", "-e", "dev"])
    assert.deepStrictEqual(both, {
      code: 2,
      signal: null,
      stdout: "",
      stderr: "coffer: --env dev and prod both name the environment: leave one of them out\n"
    })
  })
})

describe("coffer open", () => {
  it.each([
    [[undefined, undefined, undefined], "/"],
    [["acme", undefined, undefined], "/acme"],
    [["api", "webshop", undefined], "/-/org/api/webshop"],
    [["acme", "webshop", "prod"], "/acme/webshop?env=prod"]
  ] as const)("at %j goes to %s", (names, path) => {
    assert.strictEqual(consolePath(names[0], names[1], names[2]), path)
  })

  it.live("prints the address where no browser can be shown", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* run(["open", "webshop/prod"], {}, { SSH_CONNECTION: "a b c d" })
      assert.deepStrictEqual([code, stdout], [0, `${place.home.serverUrl}/acme/webshop?env=prod\n`])
    })
  )

  it("knows the same paths of the server as the console", () => {
    const source = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")
    const paths = (text: string) => /const serverPaths = new Set\(\[(.*)\]\)/.exec(text)?.[1]
    const own = paths(source("cli/src/commands/help/Open.ts"))
    assert.strictEqual(own, paths(source("console/src/routing/Places.ts")))
    assert.isDefined(own)
  })
})

describe("two environments of one project", () => {
  it("are places in env diff, env copy and secret copy", async () => {
    await place.ok("set", "MOVED=1", "MOVED2=2", "-e", "dev")
    await place.ok("env", "copy", "acme/webshop/dev", "staging", "--only", "MOVED", "--yes")
    assert.strictEqual(await valueOf("MOVED", "staging"), "1")
    await place.ok("secret", "copy", "MOVED2", "-e", "dev", "--to", "webshop/staging", "--yes")
    assert.strictEqual(await valueOf("MOVED2", "staging"), "2")
    assert.match(await place.prints("env", "diff", "dev", "acme/webshop/prod"), /^MOVED\tonly in dev$/m)
  })

  it("are refused before anything is sent where they are of two projects", async () => {
    for (const argv of [
      ["env", "diff", "webshop/dev", "api/dev"],
      ["env", "copy", "acme/webshop/dev", "other/webshop/prod", "--yes"]
    ]) {
      const { code, stderr } = await place.home.coffer(argv)
      assert.deepStrictEqual([code, stderr], [2, "coffer: give two environments of one project\n"])
    }
    const { code, stderr } = await place.home.coffer(["secret", "copy", "MOVED", "-p", "webshop", "--to", "api/prod"])
    assert.strictEqual(code, 2)
    assert.match(stderr, /both name the project/)
  })
})
