import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok } = place

/** Makes an environment whose secrets are these. */
const environment = async (name: string, values: Readonly<Record<string, string>>) => {
  await ok("env", "create", name)
  if (Object.keys(values).length > 0) await importOf(name, values, "--yes")
}

const importOf = async (env: string, values: Readonly<Record<string, string>>, ...options: ReadonlyArray<string>) => {
  writeFileSync(join(place.home.folder, `${env}.json`), JSON.stringify(values))
  return ok("secret", "import", `${env}.json`, "--env", env, ...options)
}

const valuesOf = async (env: string) =>
  JSON.parse((await ok("secret", "export", "--env", env, "--format", "json")).stdout) as unknown

describe("without a terminal", () => {
  it("what is there is overwritten or deleted only by --yes, and new keys are written without", async () => {
    await environment("first", { A: "1", B: "2" })
    writeFileSync(join(place.home.folder, "more.json"), JSON.stringify({ B: "changed", C: "3" }))
    const refused = await place.home.coffer(["secret", "import", "more.json", "--env", "first"])
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.match(refused.stderr, /^coffer: webshop\/first: this would overwrite or delete 1 secret \(B\).*add --yes\n$/)
    assert.deepStrictEqual(await valuesOf("first"), { A: "1", B: "2" })

    const created = await importOf("first", { A: "1", C: "3" })
    assert.strictEqual(created.stdout, "A\tunchanged\t1\nC\tcreated\t1\n")
    const done = await ok("secret", "import", "more.json", "--env", "first", "--yes")
    assert.match(done.stderr, /1 updated.*\ncoffer: undo: coffer env revert first --to 2\n$/)
    assert.deepStrictEqual(await valuesOf("first"), { A: "1", B: "changed", C: "3" })

    await environment("second", { B: "other" })
    const copy = await place.home.coffer(["env", "copy", "first", "second"])
    assert.strictEqual(copy.code, 2)
    assert.match(copy.stderr, /webshop\/second: this would overwrite or delete 1 secret \(B\)/)
    assert.match(
      (await ok("env", "copy", "first", "second", "--only", "A")).stderr,
      /undo: coffer env revert second --to 1\n$/
    )
    assert.match(
      (await ok("env", "copy", "first", "second", "--yes")).stderr,
      /undo: coffer env revert second --to 2\n$/
    )
    assert.deepStrictEqual(await valuesOf("second"), await valuesOf("first"))
  })

  it("a change is taken back as its last line says, and that too", async () => {
    await environment("third", { A: "1", GONE: "2" })
    const before = await valuesOf("third")
    const { stderr } = await importOf("third", { A: "changed", NEW: "3" }, "--yes")
    await ok("secret", "delete", "GONE", "--env", "third", "--yes")
    const after = await valuesOf("third")
    const [, line = ""] = /undo: coffer (.*)\n/.exec(stderr) ?? []
    const undo = line.split(" ")

    const shown = await ok(...undo, "--dry-run")
    assert.strictEqual(shown.stdout, "A\tupdated\t3\nGONE\tcreated\t1\nNEW\tdeleted\t1\n")
    assert.match(shown.stderr, /would be 1 created, 1 updated, 1 deleted, 0 unchanged; nothing was written/)
    const refused = await place.home.coffer(undo)
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /overwrite or delete 2 secrets \(A, NEW\)/)
    assert.deepStrictEqual(await valuesOf("third"), after)

    const done = await ok(...undo, "--yes")
    assert.deepStrictEqual(await valuesOf("third"), before)
    const [, back = ""] = /undo: coffer (.*)\n/.exec(done.stderr) ?? []
    const { stdout } = await ok(...back.split(" "), "--yes", "--json")
    assert.strictEqual(JSON.parse(stdout).revision, 5)
    assert.deepStrictEqual(await valuesOf("third"), after)
    assert.strictEqual((await place.home.coffer(["env", "revert", "--env", "third", "--to", "99"])).code, 4)

    const listed = await ok("env", "revisions", "--env", "third")
    const rows = listed.stdout.trimEnd().split("\n")
    assert.deepStrictEqual(
      rows.map((row) => row.replace(/\t\S+Z\tada@example\.com\t/, " ")),
      [
        "5 A updated, GONE deleted, NEW created",
        "4 A updated, GONE created, NEW deleted",
        "3 GONE deleted",
        "2 A updated, NEW created",
        "1 A created, GONE created"
      ]
    )
    const page = JSON.parse(
      (await ok("env", "revisions", "--env", "third", "--limit", "2", "--before", "4", "--json")).stdout
    )
    assert.deepStrictEqual(
      page.data.map(({ revision }: { revision: number }) => revision),
      [3, 2]
    )
  })
})

describe("at a terminal", () => {
  it("what would change is shown, and done only after a yes", async () => {
    await environment("asked", { A: "1", SAME: "same" })
    writeFileSync(join(place.home.folder, "asked.json"), JSON.stringify({ A: "changed", NEW: "2", SAME: "same" }))
    const command = ["secret", "import", "asked.json", "--env", "asked"]
    const no = Terminal.coffer(place.home, ...command)
    await no.sees("A    updated  2")
    await no.sees("NEW  created  1")
    await no.answer("Change 2 of the secrets of webshop/asked? [y/N] ", "n\r")
    await no.sees("nothing was changed")
    assert.strictEqual(await no.ended(), 1)
    assert.deepStrictEqual(await valuesOf("asked"), { A: "1", SAME: "same" })

    const yes = Terminal.coffer(place.home, ...command)
    await yes.answer("? [y/N] ", "y\r")
    await yes.sees("1 created, 1 updated, 1 unchanged")
    await yes.sees("undo: coffer env revert asked --to 1")
    assert.strictEqual(await yes.ended(), 0)
    assert.deepStrictEqual(await valuesOf("asked"), { A: "changed", NEW: "2", SAME: "same" })
  })

  it("what was changed by somebody else before the yes is left alone", async () => {
    await environment("raced", { A: "1" })
    await environment("source", { A: "new" })
    const changes = {
      import: ["secret", "import", "source.json", "--env", "raced"],
      copy: ["env", "copy", "source", "raced"],
      revert: ["env", "revert", "--env", "raced", "--to", "0"]
    }
    for (const [name, command] of Object.entries(changes)) {
      const terminal = Terminal.coffer(place.home, ...command)
      await terminal.sees("? [y/N] ")
      await ok("secret", "set", "A", `by somebody else during ${name}`, "--env", "raced")
      terminal.type("y\r")
      await terminal.sees("environment raced has changed")
      assert.strictEqual(await terminal.ended(), 1)
      assert.deepStrictEqual(await valuesOf("raced"), { A: `by somebody else during ${name}` })
    }

    const copy = Terminal.coffer(place.home, "env", "copy", "source", "raced")
    await copy.sees("? [y/N] ")
    await ok("secret", "set", "UNSEEN", "x", "--env", "source")
    copy.type("y\r")
    await copy.sees("has changed")
    assert.strictEqual(await copy.ended(), 1)
    assert.deepStrictEqual(await valuesOf("raced"), { A: "by somebody else during revert" })
  })
})
