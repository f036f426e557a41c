import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { runInProcess } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok } = place

const values = { A: "1", B: "two words", LINES: "one\ntwo\n", "odd.key": "x" } as const

const environment = async (name: string) => {
  await ok("env", "create", name)
  const input = JSON.stringify(values)
  const args = ["secret", "import", "-", "--format", "json", "--env", name]
  assert.strictEqual((await place.home.coffer(args, { input })).code, 0)
}

const keysOf = async (env: string) =>
  (await place.prints("secret", "list", "--env", env)).split("\n").flatMap((row) => row.split("\t").slice(0, 1))

/** Runs a command at a terminal where a person gives these answers. */
const asked = (args: ReadonlyArray<string>, answers: ReadonlyArray<string>) => {
  const at = ["--org", "acme", "--project", "webshop"]
  return Effect.runPromise(runInProcess([...args, ...at], place.home.environment, { answers }))
}

describe("secret get with several keys", () => {
  it("prints the lines of a file, which keep the values apart", async () => {
    await environment("reading")
    const get = (...args: ReadonlyArray<string>) => place.prints("secret", "get", "--env", "reading", ...args)
    assert.strictEqual(await get("B", "A", "A"), "A=1\nB='two words'\n")
    assert.strictEqual(await get("LINES", "odd.key"), "LINES='one\ntwo\n'\nodd.key=x\n")
    assert.deepStrictEqual(JSON.parse(await get(...Object.keys(values), "--format", "json")), values)
    assert.strictEqual(await get("A", "--format", "shell"), "export A='1'\n")
    assert.strictEqual(await get("LINES", "LINES"), values.LINES)
    const { data } = JSON.parse(await get("A", "LINES", "--json"))
    assert.deepStrictEqual(
      data.map(({ key, value }: { key: string; value: string }) => [key, value]),
      [
        ["A", "1"],
        ["LINES", values.LINES]
      ]
    )
  })

  it("prints nothing where a key is not there, or the format cannot hold a value", async () => {
    const get = (...args: ReadonlyArray<string>) => place.home.coffer(["secret", "get", "--env", "reading", ...args])
    const absent = await get("A", "NOT_THERE")
    assert.deepStrictEqual([absent.code, absent.stdout], [4, ""])
    assert.match(absent.stderr, /secret NOT_THERE does not exist/)
    const odd = await get("A", "odd.key", "--format", "shell")
    assert.deepStrictEqual([odd.code, odd.stdout], [1, ""])
    assert.match(odd.stderr, /odd\.key .*choose with --format/)
    assert.match((await get("A", "B", "--at", "1")).stderr, /--at names a version of one secret/)
  })
})

describe("secret delete with several keys", () => {
  it("asks once, with the names, and deletes all by one revision", async () => {
    await environment("deleting")
    const remove = ["secret", "delete", "A", "B", "LINES", "--env", "deleting"]
    const question = "Delete A, B and LINES from webshop/deleting? [y/N] "
    assert.deepStrictEqual(await asked(remove, ["n"]), {
      code: 1,
      stdout: "",
      stderr: `${question}coffer: nothing was changed\n`
    })
    const done = await asked(remove, ["y"])
    assert.strictEqual(done.stdout, "A, B and LINES deleted from webshop/deleting\n")
    assert.match(done.stderr, /coffer: undo: coffer env revert .*deleting --to 1\n$/)
    assert.deepStrictEqual(await keysOf("deleting"), ["odd.key", ""])
    assert.match(
      await place.prints("env", "revisions", "--env", "deleting"),
      /^2\t.*A deleted, B deleted, LINES deleted$/m
    )
  })

  it("deletes nothing where one key does not exist", async () => {
    await environment("keeping")
    const { code, stderr, stdout } = await place.home.coffer(
      "secret delete A NOT_THERE NOR_THIS --yes --env keeping".split(" ")
    )
    assert.deepStrictEqual([code, stdout], [4, ""])
    assert.match(stderr, /^coffer: NOR_THIS and NOT_THERE are not in webshop\/keeping, and nothing was deleted; /)
    assert.deepStrictEqual(await keysOf("keeping"), [...Object.keys(values).sort(), ""])
    const versioned = await place.home.coffer("secret delete A B --yes --if-version 1 --env keeping".split(" "))
    assert.strictEqual(versioned.code, 2)
    assert.match(versioned.stderr, /--if-version names a version of one secret/)
  })
})

describe("secret copy", () => {
  it("writes the named secrets of this environment to another one", async () => {
    await environment("origin")
    await ok("env", "create", "target")
    const copy = ["secret", "copy", "A", "LINES", "--env", "origin", "--to", "target"]
    assert.match((await ok(...copy, "--dry-run")).stderr, /webshop\/target: would be 2 created/)
    assert.strictEqual((await ok(...copy)).stdout, "A\tcreated\t1\nLINES\tcreated\t1\n")
    assert.strictEqual(await place.prints("secret", "get", "LINES", "--env", "target"), values.LINES)
    assert.deepStrictEqual(await keysOf("target"), ["A", "LINES", ""])
    await ok("secret", "set", "A", "other", "--env", "target")
    const refused = await place.home.coffer(copy)
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /webshop\/target: this would overwrite or delete 1 secret \(A\)/)
  })
})
