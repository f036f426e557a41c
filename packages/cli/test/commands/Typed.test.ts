import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Desk, node, Server } from "../support/Programs.js"
import { client, pasted, Terminal } from "../support/Terminal.js"

let server: Server
let desk: Desk

beforeAll(async () => {
  server = await Server.start()
  desk = await server.login("ada@example.com")
  await ok("org", "create", "acme")
  await ok("project", "create", "webshop", "--org", "acme")
  await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
}, 300_000)

afterAll(async () => {
  desk?.remove()
  await server?.stop()
})

const ok = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await desk.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return stdout
}

const pem = ["-----BEGIN PRIVATE KEY-----", "touch planted", "MC4CAQAwBQYDK2VwBCIEIH", "-----END PRIVATE KEY-----"]
  .join("\n")
  .concat("\n")

/** A shell that keeps its history in a file. */
const shell = (history: string) => {
  writeFileSync(join(desk.home, "rc"), `PS1='ready> '; HISTFILE='${join(desk.home, history)}'\n`)
  return new Terminal(desk, ["bash", "--rcfile", "rc", "-i"], { env: { COFFER: `${node} ${client}` } })
}

describe("a value that is typed", () => {
  it("is taken up to Enter, can be corrected, and is not shown", async () => {
    const terminal = Terminal.coffer(desk, "secret", "set", "TYPED")
    await terminal.answer("Value of TYPED: ", "wrong\x15hunter3\x7f2é\x1b[D\t!\r")
    await terminal.sees("TYPED stored in webshop/dev as version 1")
    assert.strictEqual(await terminal.ended(), 0)
    assert.notInclude(terminal.screen, "hunter")
    assert.strictEqual(await ok("secret", "get", "TYPED"), "hunter2é\t!")
  })

  it("is asked for again where nothing was typed, and stored empty where that is wanted", async () => {
    await ok("secret", "set", "KEPT", "precious")
    const terminal = Terminal.coffer(desk, "secret", "set", "KEPT")
    await terminal.answer("Value of KEPT: ", "\r")
    await terminal.sees("--allow-empty stores the empty text")
    await terminal.answer("Value of KEPT: ", "\x03")
    assert.strictEqual(await terminal.ended(), 130)
    assert.strictEqual(await ok("secret", "get", "KEPT"), "precious")

    const empty = Terminal.coffer(desk, "secret", "set", "KEPT", "--allow-empty")
    await empty.answer("Value of KEPT: ", "\r")
    assert.strictEqual(await empty.ended(), 0)
    assert.strictEqual(await ok("secret", "get", "KEPT"), "")
    assert.strictEqual((await desk.coffer(["secret", "set", "KEPT", "again"])).code, 0)
    assert.strictEqual((await desk.coffer(["secret", "set", "KEPT"], { input: "" })).code, 2)
    await ok("secret", "set", "KEPT", "--allow-empty")
    assert.strictEqual(await ok("secret", "get", "KEPT"), "")
  })
})

describe("a value that is pasted", () => {
  it("is taken with all of its lines, and none of them reaches the shell or its history", async () => {
    const bash = shell("history-pasted")
    await bash.answer("ready> ", "$COFFER secret set PEM\r")
    await bash.answer("Value of PEM: ", pasted(pem))
    bash.type("\r")
    await bash.sees("4 lines were pasted")
    await bash.sees("PEM stored in webshop/dev as version 1")
    await bash.answer("ready> ", "exit\r")
    assert.strictEqual(await bash.ended(), 0)
    assert.strictEqual(await ok("secret", "get", "PEM"), pem)
    assert.strictEqual(readFileSync(join(desk.home, "history-pasted"), "utf8"), "$COFFER secret set PEM\nexit\n")
    assert.notInclude(bash.screen, "PRIVATE KEY")
    assert.isFalse(existsSync(join(desk.home, "planted")))
  })

  it("as one line has no end of line", async () => {
    const terminal = Terminal.coffer(desk, "secret", "set", "TOKEN")
    await terminal.answer("Value of TOKEN: ", `${pasted("token\n")}\r`)
    assert.strictEqual(await terminal.ended(), 0)
    assert.strictEqual(await ok("secret", "get", "TOKEN"), "token")
  })

  it("is refused where the terminal does not mark it, and nothing of it reaches the shell or its history", async () => {
    const bash = shell("history-unmarked")
    await bash.answer("ready> ", "$COFFER secret set UNMARKED\r")
    await bash.answer("Value of UNMARKED: ", pem.replaceAll("\n", "\r"))
    await bash.sees("several lines came at once")
    await bash.answer("Value of UNMARKED: ", "\x03")
    await bash.answer("ready> ", "exit\r")
    await bash.ended()
    assert.strictEqual(readFileSync(join(desk.home, "history-unmarked"), "utf8"), "$COFFER secret set UNMARKED\nexit\n")
    assert.isFalse(existsSync(join(desk.home, "planted")))
    assert.strictEqual((await desk.coffer(["secret", "get", "UNMARKED"])).code, 4)
  })
})
