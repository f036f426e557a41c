import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { node } from "../support/Programs.js"
import { client, pasted, Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { prints } = place

const pem = ["-----BEGIN PRIVATE KEY-----", "touch planted", "MC4CAQAwBQYDK2VwBCIEIH", "-----END PRIVATE KEY-----"]
  .join("\n")
  .concat("\n")

/** A shell that keeps its history in a file. */
const shell = (history: string) => {
  writeFileSync(join(place.home.folder, "rc"), `PS1='ready> '; HISTFILE='${join(place.home.folder, history)}'\n`)
  return new Terminal(place.home, ["bash", "--rcfile", "rc", "-i"], { env: { COFFER: `${node} ${client}` } })
}

describe("a typed value", () => {
  it("is taken up to Enter, can be corrected, and is not shown", async () => {
    const terminal = Terminal.coffer(place.home, "secret", "set", "TYPED")
    await terminal.answer("Value of TYPED: ", "wrong\x15hunter3\x7f2é\x1b[D\t!\r")
    await terminal.sees("TYPED stored in webshop/dev as version 1")
    assert.strictEqual(await terminal.ended(), 0)
    assert.notInclude(terminal.screen, "hunter")
    assert.strictEqual(await prints("secret", "get", "TYPED"), "hunter2é\t!")
  })

  it("is not shown either where it is typed the moment that the question is there", async () => {
    const slow = `const set = process.stdin.setRawMode
      process.stdin.setRawMode = function (on) {
        if (on) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
        return set.call(this, on)
      }`
    const terminal = new Terminal(place.home, [node, client, "secret", "set", "EARLY"], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(slow)}` }
    })
    await terminal.answer("Value of EARLY: ", "hunter2\r")
    await terminal.sees("EARLY stored in webshop/dev as version 1")
    assert.strictEqual(await terminal.ended(), 0)
    assert.notInclude(terminal.screen, "hunter")
  })

  it("is asked for again where nothing was typed, and stored empty with --allow-empty", async () => {
    await prints("secret", "set", "KEPT", "precious")
    const terminal = Terminal.coffer(place.home, "secret", "set", "KEPT")
    await terminal.answer("Value of KEPT: ", "\r")
    await terminal.sees("--allow-empty stores the empty text")
    await terminal.answer("Value of KEPT: ", "\x03")
    assert.strictEqual(await terminal.ended(), 130)
    assert.strictEqual(await prints("secret", "get", "KEPT"), "precious")

    const empty = Terminal.coffer(place.home, "secret", "set", "KEPT", "--allow-empty")
    await empty.answer("Value of KEPT: ", "\r")
    assert.strictEqual(await empty.ended(), 0)
    assert.strictEqual(await prints("secret", "get", "KEPT"), "")
    assert.strictEqual((await place.home.coffer(["secret", "set", "KEPT", "again"])).code, 0)
    assert.strictEqual((await place.home.coffer(["secret", "set", "KEPT"], { input: "" })).code, 2)
    await prints("secret", "set", "KEPT", "--allow-empty")
    assert.strictEqual(await prints("secret", "get", "KEPT"), "")
  })
})

describe("a pasted value", () => {
  it("is taken with all of its lines, and no line reaches the shell or its history", async () => {
    const bash = shell("history-pasted")
    await bash.answer("ready> ", "$COFFER secret set PEM\r")
    await bash.answer("Value of PEM: ", pasted(pem))
    bash.type("\r")
    await bash.sees("4 lines were pasted")
    await bash.sees("PEM stored in webshop/dev as version 1")
    await bash.answer("ready> ", "exit\r")
    assert.strictEqual(await bash.ended(), 0)
    assert.strictEqual(await prints("secret", "get", "PEM"), pem)
    assert.strictEqual(
      readFileSync(join(place.home.folder, "history-pasted"), "utf8"),
      "$COFFER secret set PEM\nexit\n"
    )
    assert.notInclude(bash.screen, "PRIVATE KEY")
    assert.isFalse(existsSync(join(place.home.folder, "planted")))
  })

  it("as one line has no end of line", async () => {
    const terminal = Terminal.coffer(place.home, "secret", "set", "TOKEN")
    await terminal.answer("Value of TOKEN: ", `${pasted("token\n")}\r`)
    assert.strictEqual(await terminal.ended(), 0)
    assert.strictEqual(await prints("secret", "get", "TOKEN"), "token")
  })

  it("is refused where the terminal does not mark it, and nothing of it reaches the shell or its history", async () => {
    const bash = shell("history-unmarked")
    await bash.answer("ready> ", "$COFFER secret set UNMARKED\r")
    await bash.answer("Value of UNMARKED: ", pem.replaceAll("\n", "\r"))
    await bash.sees("several lines came at once")
    await bash.answer("Value of UNMARKED: ", "\x03")
    await bash.answer("ready> ", "exit\r")
    await bash.ended()
    assert.strictEqual(
      readFileSync(join(place.home.folder, "history-unmarked"), "utf8"),
      "$COFFER secret set UNMARKED\nexit\n"
    )
    assert.isFalse(existsSync(join(place.home.folder, "planted")))
    assert.strictEqual((await place.home.coffer(["secret", "get", "UNMARKED"])).code, 4)
  })
})
