import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { tree } from "../../src/Commands.js"
import { meant } from "../../src/grammar/Tree.js"
import { destroysWithout } from "../../src/grammar/Data.js"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const at = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }

/** A command at a terminal, where a person answers. */
const asked = (line: string, options: TerminalOptions = {}) =>
  Effect.suspend(() =>
    runInProcess(
      line.split(" "),
      { ...place.home.environment, ...at, SERVICE_SERVER_URL: place.server.url },
      { isTerminal: true, ...options }
    )
  )

const idsOf = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  JSON.parse(await prints(...args, "--removed", "--json")).data.map(({ id }: { readonly id: string }) => id)

describe("a deletion of an environment, a project or an organization", () => {
  it("says how to bring it back, which does it", async () => {
    await ok("env", "create", "qa")
    await ok("secret", "set", "A", "one", "--env", "qa")
    const { stderr, stdout } = await ok("env", "delete", "qa", "--yes")
    assert.strictEqual(stdout, "environment qa deleted\n")
    const [, undo = ""] =
      /^coffer: until 20[-\d]+ [\d:]+ UTC, bring it back with: coffer (env restore acme\/webshop\/qa)\n$/.exec(
        stderr
      ) ?? []
    assert.notStrictEqual(undo, "", stderr)
    assert.strictEqual(await prints(...undo.split(" ")), "environment qa restored\n")
    assert.strictEqual(await prints("secret", "get", "A", "--env", "qa"), "one")

    const project = await ok("project", "delete", "webshop", "--yes")
    assert.match(project.stderr, /bring it back with: coffer project restore acme\/webshop\n$/)
    await ok("project", "restore", "acme/webshop")

    const org = await ok("org", "delete", "acme", "--yes")
    assert.strictEqual(org.stdout, "organization acme deleted\n")
    assert.match(org.stderr, /bring it back with: coffer org restore acme\n$/)
    const list = await ok("org", "list", "--removed")
    assert.match(list.stdout, /^acme\t\S+Z\tada@example\.com\t\S+Z\t\S+\n$/)
    await ok("org", "restore", "acme")
    assert.strictEqual(await prints("secret", "get", "A", "--env", "qa"), "one")
  })

  it("prints nothing more with --json, and takes the organization from --org as before", async () => {
    await ok("org", "create", "other")
    const { stdout } = await ok("org", "delete", "--org", "other", "--yes", "--json")
    assert.strictEqual(stdout, "")
    await ok("org", "erase", "other", "--yes")
    assert.deepStrictEqual(await idsOf("org", "list"), [])
  })

  it.live("asks for the name at a terminal, and takes no other and no yes for it", () =>
    Effect.gen(function* () {
      for (const [line, name] of [
        ["env delete staging", "staging"],
        ["project delete webshop", "webshop"],
        ["org delete acme", "acme"]
      ] as const) {
        for (const answer of ["y", "yes", "", "other"]) {
          const { code, stderr } = yield* asked(line, { answers: [answer] })
          assert.strictEqual(code, 1, line)
          assert.include(stderr, `Type ${name} to go on: `)
          assert.include(stderr, "that is another name: nothing was changed")
        }
        const { code, stderr } = yield* asked(line)
        assert.strictEqual(code, 2)
        assert.include(stderr, "add --yes")
      }
      assert.strictEqual((yield* asked("env delete staging", { answers: ["staging"] })).code, 0)
      assert.strictEqual((yield* asked("env restore staging")).code, 0)
    })
  )
})

describe("coffer env restore", () => {
  it("takes a new name if its own is in use, and the newest of several unless an id says which", async () => {
    for (const value of ["one", "two", "three"]) {
      await ok("env", "create", "twin")
      await ok("secret", "set", "A", value, "--env", "twin")
      if (value !== "three") await ok("env", "delete", "twin", "--yes")
    }
    const refused = await place.home.coffer(["env", "restore", "twin"])
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /the environment name twin is in use: restore it under another name/)
    const { stderr, stdout } = await ok("env", "restore", "twin", "--as", "twin-2")
    assert.strictEqual(stdout, "environment twin restored as twin-2\n")
    assert.match(stderr, /2 deleted environments had the name twin: this is the one that was deleted last, /)
    assert.strictEqual(await prints("secret", "get", "A", "--env", "twin-2"), "two")
    const [id = ""] = await idsOf("env", "list")
    await ok("env", "restore", "twin", "--id", id, "--as", "twin-1")
    assert.strictEqual(await prints("secret", "get", "A", "--env", "twin-1"), "one")
    const none = await place.home.coffer(["env", "restore", "twin"])
    assert.strictEqual(none.code, 4)
    assert.match(
      none.stderr,
      /no deleted environment twin can be restored; coffer env list acme\/webshop --removed shows those that can/
    )
  })
})

describe("coffer env erase", () => {
  it.live("asks for the name, does not guess among several environments of that name, and cannot be undone", () =>
    Effect.gen(function* () {
      for (let times = 0; times < 2; times++) {
        yield* Effect.promise(() => ok("env", "create", "old"))
        yield* Effect.promise(() => ok("env", "delete", "old", "--yes"))
      }
      const guessed = yield* asked("env erase old", { answers: ["old"] })
      assert.strictEqual(guessed.code, 2)
      assert.include(guessed.stderr, "2 deleted environments had the name old: say which with --id")
      const [id = "", other = ""] = yield* Effect.promise(() => idsOf("env", "list"))
      assert.strictEqual((yield* asked(`env erase old --id ${id}`, { answers: ["y"] })).code, 1)
      assert.strictEqual((yield* asked(`env erase old --id ${id}`, { answers: ["old"] })).code, 0)
      const { code } = yield* asked(`env restore old --id ${id}`)
      assert.strictEqual(code, 4)
      assert.strictEqual((yield* asked(`env erase old --id ${other}`, { answers: ["old"] })).code, 0)
    })
  )
})

describe("an unknown command", () => {
  it("is never answered by one that destroys, unless it is its name in another tool", () => {
    assert.strictEqual(meant(tree, ["env"], "undelete"), "coffer env restore")
    assert.strictEqual(meant(tree, ["org"], "undo"), "coffer org restore")
    assert.strictEqual(meant(tree, ["env"], "rm"), "coffer env delete")
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz-")
    const typosOf = (word: string): ReadonlyArray<string> =>
      [...word, ""].flatMap((_letter, at) => [
        word.slice(0, at) + word.slice(at + 1),
        ...letters.flatMap((letter) => [
          word.slice(0, at) + letter + word.slice(at),
          word.slice(0, at) + letter + word.slice(at + 1)
        ])
      ])
    for (const group of tree.nodes) {
      if (group.type === "command") continue
      const destroys = group.commands.filter(({ options }) =>
        options.some(({ description }) => description === destroysWithout)
      )
      const named = new Set(destroys.map(({ name }) => `coffer ${group.name} ${name}`))
      const known = new Set(group.commands.map(({ name }) => name))
      for (const { name } of destroys) {
        for (const typo of [...typosOf(name), `un${name}`, `re${name}`]) {
          if (known.has(typo) || ["rm", "remove"].includes(typo)) continue
          const found = meant(tree, [group.name], typo)
          assert.isFalse(found !== undefined && named.has(found), `${group.name} ${typo}: ${found}`)
        }
      }
    }
  })
})
