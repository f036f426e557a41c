import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { finish, node, until } from "../support/Programs.js"
import { client, Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok } = place

const inHome = (name: string) => join(place.home.folder, name)

/** Makes an environment with these secrets. */
const environment = async (name: string, values: Readonly<Record<string, string>>) => {
  await ok("env", "create", name)
  const args = ["secret", "import", "-", "--format", "json", "--env", name]
  assert.strictEqual((await place.home.coffer(args, { input: JSON.stringify(values) })).code, 0)
}

const valuesOf = async (env: string) =>
  JSON.parse(await place.prints("secret", "export", "--env", env, "--format", "json")) as unknown

const revisionsOf = async (env: string) => (await place.prints("env", "revisions", "--env", env)).split("\n").length - 1

/** The variables with which `secret edit` starts this script. It notes where the file is, and who may read it. */
const editor = (name: string, script: string) => {
  const note = `echo "$1" > ${inHome(`${name}.path`)}; stat -c %a "$1" "$(dirname "$1")" > ${inHome(`${name}.modes`)}`
  writeFileSync(inHome(`${name}.sh`), `set -e\n${note}\n${script}\n`)
  return { EDITOR: `sh ${inHome(`${name}.sh`)}`, XDG_RUNTIME_DIR: place.home.folder }
}

/** Nothing of the edited file is left. */
const assertRemoved = (name: string) => {
  const path = readFileSync(inHome(`${name}.path`), "utf8").trim()
  assert.isTrue(path.startsWith(join(place.home.folder, "coffer-edit-")), path)
  assert.isFalse(existsSync(path))
  assert.deepStrictEqual(
    readdirSync(place.home.folder).filter((entry) => entry.startsWith("coffer-edit-")),
    []
  )
}

describe("secret edit", () => {
  it("writes what was changed in a file for its owner alone", async () => {
    await environment("first", { CHANGED: "old", GONE: "x", KEPT: "line one\nline two\n" })
    const script = `sed -i -e 's/^CHANGED: .*/CHANGED: "new"/' -e '/^GONE/d' "$1"; echo 'ADDED: "1"' >> "$1"; cp "$1" ${inHome("seen")}`
    const env = editor("first", script)
    const { code, stderr, stdout } = await place.home.coffer(["secret", "edit", "--env", "first", "--yes"], { env })
    assert.strictEqual(code, 0, stderr)
    assert.sameMembers(stdout.trimEnd().split("\n"), ["ADDED\tcreated\t1", "CHANGED\tupdated\t2", "GONE\tdeleted\t1"])
    assert.match(stderr, /undo: coffer env revert first --to 1\n$/)
    assert.deepStrictEqual(await valuesOf("first"), { ADDED: "1", CHANGED: "new", KEPT: "line one\nline two\n" })
    assert.strictEqual(readFileSync(inHome("first.modes"), "utf8"), "600\n700\n")
    assert.match(readFileSync(inHome("seen"), "utf8"), /^# Secrets of acme\/webshop\/first\. .*\n/)
    assertRemoved("first")
  })

  it("offers only the named keys, in the format that was asked for", async () => {
    await environment("named", { A: "1", B: "2", C: "3" })
    const env = editor("named", `cp "$1" ${inHome("seen")}; sed -i 's/^A=.*/A=changed/' "$1"`)
    const args = ["secret", "edit", "A", "B", "--env", "named", "--format", "env", "--yes"]
    assert.strictEqual((await place.home.coffer(args, { env })).code, 0)
    assert.strictEqual(readFileSync(inHome("seen"), "utf8").replace(/^#.*\n/, ""), "A=1\nB=2\n")
    assert.deepStrictEqual(await valuesOf("named"), { A: "changed", B: "2", C: "3" })
  })

  it("writes nothing where nothing was changed, the editor failed, or the file has mistakes", async () => {
    await environment("same", { A: "hunter2", B: "2" })
    const cases = [
      [":", 0, "coffer: nothing was changed in webshop/same\n"],
      [`echo 'C: "x"' >> "$1"; exit 3`, 1, /ended with exit code 3, and nothing was written; VISUAL or EDITOR/],
      [`kill -9 $$`, 1, /, and nothing was written; /],
      [
        `echo 'A: hunter2' >> "$1"; echo '1BAD: x' >> "$1"`,
        1,
        /^coffer: secrets\.yaml, line 4: A is here again.*\ncoffer: secrets\.yaml, line 5: "1BAD": .*\ncoffer: secrets\.yaml has 2 mistakes, so nothing was written/
      ],
      [`sed -i /^A/d "$1"`, 2, /this would overwrite or delete 1 secret \(A\).*add --yes/]
    ] as const
    for (const [script, expected, says] of cases) {
      const env = editor("same", script)
      const { code, stderr, stdout } = await place.home.coffer(["secret", "edit", "--env", "same"], { env })
      assert.deepStrictEqual([code, stdout], [expected, ""], `${script}: ${stderr}`)
      if (typeof says === "string") assert.strictEqual(stderr, says)
      else assert.match(stderr, says)
      assert.notInclude(stderr, "hunter2")
      assertRemoved("same")
    }
    assert.strictEqual(await revisionsOf("same"), 1)
  })

  it.each(["SIGTERM", "SIGHUP"] as const)("removes the file when %s ends it", async (signal) => {
    const env = editor(signal, "exec sleep 600")
    const child = place.home.start(["secret", "edit", "--env", "dev"], { env })
    const ended = finish(child)
    await until(() => (existsSync(inHome(`${signal}.modes`)) ? true : undefined), "the editor")
    child.kill(signal)
    assert.notStrictEqual((await ended).code, 0)
    assertRemoved(signal)
  })

  it("leaves ctrl-C to the editor", async () => {
    await environment("interrupted", { A: "1" })
    const go = inHome("go")
    const env = editor("interrupted", `until [ -e ${go} ]; do sleep 0.05; done; echo 'B: "2"' >> "$1"`)
    const child = place.home.start(["secret", "edit", "--env", "interrupted"], { env })
    const ended = finish(child)
    await until(() => (existsSync(inHome("interrupted.modes")) ? true : undefined), "the editor")
    child.kill("SIGINT")
    writeFileSync(go, "")
    const { code, stderr } = await ended
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(await valuesOf("interrupted"), { A: "1", B: "2" })
  })
})

describe("secret edit at a terminal", () => {
  const start = (name: string, env: Record<string, string>) =>
    new Terminal(place.home, [node, client, "secret", "edit", "--env", name], { env })

  it("opens the editor again after a mistake, shows the changes by key, and asks", async () => {
    await environment("asked", { A: "hunter2" })
    const first = inHome("first-time")
    const env = editor(
      "asked",
      `if [ -e ${first} ]; then sed -i 's/^B: .*/B: "hunter3"/' "$1"; else touch ${first}; echo 'B: 8080' >> "$1"; fi`
    )
    const terminal = start("asked", env)
    await terminal.sees("secrets.yaml, line 3: B must have a text as its value")
    await terminal.answer("press Enter to edit again, or ctrl-C to stop ", "\r")
    await terminal.sees("B    created  1")
    await terminal.answer("Change 1 of the secrets of webshop/asked? [y/N] ", "y\r")
    assert.strictEqual(await terminal.ended(), 0, terminal.screen)
    assert.notInclude(terminal.screen, "hunter")
    assert.deepStrictEqual(await valuesOf("asked"), { A: "hunter2", B: "hunter3" })
    assertRemoved("asked")
  })

  it("goes on from the newest state when somebody else has changed the environment", async () => {
    await environment("raced", { A: "1", B: "1", C: "1" })
    const first = inHome("raced-once")
    const others = `cd ${place.home.folder}; for key in B D; do ${node} ${client} secret set $key theirs --env raced; done`
    const env = editor(
      "raced",
      `if [ -e ${first} ]; then exit 0; fi; touch ${first}
sed -i -e 's/^A: .*/A: "mine"/' -e 's/^B: .*/B: "mine"/' -e '/^C:/d' "$1"
(${others}) > /dev/null`
    )
    const terminal = start("raced", env)
    await terminal.sees("webshop/raced was changed by somebody else meanwhile, and nothing was written")
    await terminal.sees("the file will show what they wrote, not what you did: B")
    await terminal.answer("press Enter to edit again, or ctrl-C to stop ", "\r")
    await terminal.answer("Change 2 of the secrets of webshop/raced? [y/N] ", "y\r")
    assert.strictEqual(await terminal.ended(), 0, terminal.screen)
    assert.deepStrictEqual(await valuesOf("raced"), { A: "mine", B: "theirs", D: "theirs" })
    assertRemoved("raced")
  })
})
