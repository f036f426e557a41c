import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Desk, Server } from "./support/Programs.js"

const readme = readFileSync(fileURLToPath(new URL("../../../README.md", import.meta.url)), "utf8")

/** What the README shows of a terminal: each command with its output. */
const shown = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [command = "", ...output] = text.trimEnd().split("\n")
      return { command, output: output.join("\n") }
    })
)

describe("the README's commands", () => {
  let server: Server
  let desk: Desk

  beforeAll(async () => {
    server = await Server.start()
    desk = await server.login("ada@example.com")
  })

  afterAll(async () => {
    desk.remove()
    await server.stop()
  })

  it("are five, the first of which logs in", () => {
    assert.strictEqual(shown.length, 5)
    assert.strictEqual(shown[0]?.command, "npx coffer login --email ada@example.com")
    assert.match(shown[0]?.output ?? "", /^Code: [0-9]{6}\nlogged in to http:\/\/localhost:7100 as ada@example\.com$/m)
  })

  it("store a secret and run a program with it, with the output that is shown", async () => {
    for (const { command, output } of shown.slice(1)) {
      const result = await desk.shell(`exec 2>&1; ${command.replace("npx coffer", "$COFFER")}`)
      assert.strictEqual(result.code, 0, `${command}: ${result.stdout}`)
      assert.strictEqual(result.stdout.trimEnd(), output, command)
    }
  })
})
