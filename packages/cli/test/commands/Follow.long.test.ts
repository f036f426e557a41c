import { once } from "node:events"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Bridge } from "../support/Bridge.js"
import { TestHome, Server, until } from "../support/Programs.js"

let server: Server
let bridge: Bridge
let home: TestHome

const ok = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return stdout
}

/** Starts the client and collects what it says. */
const following = (...args: ReadonlyArray<string>) => {
  const child = home.start(["audit", "list", "--follow", ...args])
  const said = { out: "", err: "" }
  child.stdout?.on("data", (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr?.on("data", (chunk: Buffer) => (said.err += chunk.toString()))
  const lines = () => said.out.split("\n").slice(0, -1)
  return {
    said,
    lines,
    count: (count: number) => until(() => (lines().length >= count ? true : undefined), `${count} lines`),
    interrupt: async () => {
      child.kill("SIGINT")
      await once(child, "close")
      return child.exitCode
    }
  }
}

beforeAll(async () => {
  server = await Server.start()
  bridge = await Bridge.to(server.url)
  home = new TestHome(bridge.url)
  await ok("login", "--email", "root@example.com")
  await ok("login", "--email", "root@example.com", "--code", await server.code("root@example.com"))
  await ok("org", "create", "acme")
  await ok("project", "create", "webshop", "--org", "acme")
  await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
}, 300_000)

afterAll(async () => {
  home?.remove()
  await bridge?.close()
  await server?.stop()
})

describe("coffer audit list --follow", () => {
  it("prints each entry once and in order, as a JSON line with --json, while the server comes and goes", async () => {
    await ok("secret", "set", "A", "1")
    const started = following("--json", "--limit", "1")
    await started.count(1)
    await ok("secret", "set", "B", "2")
    await ok("secret", "set", "C", "3")
    await started.count(3)
    await bridge.close()
    await until(() => /still trying/.exec(started.said.err) ?? undefined, "the complaint")
    await bridge.open()
    await ok("secret", "set", "D", "4")
    await started.count(4)
    assert.strictEqual(await started.interrupt(), 130)
    const entries = started.lines().map((line) => JSON.parse(line))
    assert.deepStrictEqual(
      entries.map(({ metadata }) => metadata.key),
      ["A", "B", "C", "D"]
    )
    assert.deepStrictEqual(
      entries.map(({ seq }) => seq - entries[0].seq),
      [0, 1, 2, 3]
    )
    assert.match(started.said.err, /^coffer: cannot reach .*; still trying\ncoffer: the server answers again\n$/)
  })

  it("prints a line an entry for people, of what is asked for alone", async () => {
    await ok("secret", "set", "E", "5")
    const started = following("--action", "secret.delete")
    // Nothing tells when it has begun to follow.
    while (started.lines().length === 0) {
      await ok("secret", "set", "F", "6")
      await ok("secret", "delete", "F", "--yes")
    }
    assert.strictEqual(await started.interrupt(), 130)
    for (const line of started.lines()) assert.match(line, /^\S+Z\troot@example\.com\tsecret\.delete\tdeleted .*\bF\b/)
    assert.strictEqual(started.said.err, "")
  })

  it("ends with the client's own code for what does not pass by itself, and takes no page", async () => {
    for (const extra of [["--all"], ["--after", "s5"]]) {
      const { code, stderr } = await home.coffer(["audit", "list", "--follow", ...extra])
      assert.strictEqual(code, 2)
      assert.match(stderr, /leave --all and --after out/)
    }
    assert.strictEqual((await home.coffer(["audit", "list", "--follow", "--org", "nobody"])).code, 4)
  })
})
