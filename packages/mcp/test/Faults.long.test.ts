import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Agent, bin, clearAway } from "./support/Agent.js"
import { Listener, Service } from "./support/Service.js"

const at = (url: string) => ({
  SERVICE_SERVER_URL: url,
  SERVICE_API_KEY: `svc_sa_${"a".repeat(49)}`,
  SERVICE_ORG: "acme",
  SERVICE_PROJECT: "shop",
  SERVICE_ENV: "dev"
})

let service: Service
let key: string
let agent: Agent

beforeAll(async () => {
  service = await Service.start()
  key = (await service.account("agent", "write")).key
  agent = await Agent.start(service.at(key))
})
afterAll(async () => {
  await clearAway()
  await service.stop()
})

/** The tools that a fault meets: one that reads and one that writes. */
const some = [
  ["secret_list", {}],
  ["secret_set", { key: "A", value: "b" }],
  ["health_check", {}]
] as const

describe("a server other than expected", () => {
  it("that cannot be reached is named, with what to do", async () => {
    const nowhere = await Listener.nowhere()
    const lost = await Agent.start(at(nowhere))
    for (const [name, parameters] of some) {
      const text = await lost.refused(name, parameters, "SERVER_UNREACHABLE")
      assert.include(text, `cannot reach ${nowhere}: connection refused`)
    }
    lost.assertProtocol()
  })

  it("that answers what is not the contract's is named as such", async () => {
    const answers: ReadonlyArray<readonly [number, string]> = [
      [200, "<html>a page</html>"],
      [200, '{"data":[{"key":'],
      [200, '{"data":[{"key":"not a key","version":"x"}]}'],
      [200, ""],
      [404, "not found"],
      [500, '{"error":"oops"}'],
      [200, "\u0000".repeat(1000)]
    ]
    let next: readonly [number, string] = [200, ""]
    const strange = await Listener.start((_, response) => {
      response.writeHead(next[0], { "content-type": "application/json" }).end(next[1])
    })
    const lost = await Agent.start(at(strange.url))
    for (next of answers) {
      for (const [name, parameters] of some) await lost.refused(name, parameters, "UNEXPECTED_RESPONSE")
    }
    lost.assertProtocol()
    await strange.stop()
  })

  it("of a newer version is lived with: codes that are not known, fields and words too", async () => {
    const newer = await Listener.start((request, response) => {
      const fails = request.method === "PUT"
      response.writeHead(fails ? 418 : 200, { "content-type": "application/json" }).end(
        fails
          ? '{"error":{"code":"TEAPOT","message":"short and stout"}}'
          : JSON.stringify({
              data: [
                {
                  id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
                  name: "acme",
                  role: "emperor",
                  created_at: "some day",
                  updated_at: "another",
                  colour: "red"
                }
              ],
              more: true
            })
      )
    })
    const older = await Agent.start(at(newer.url))
    const text = await older.refused("secret_set", { key: "A", value: "b" }, "TEAPOT")
    assert.include(text, 'the server says "short and stout"')
    const [org] = (await older.use("org_list")).data
    assert.deepInclude(org, { name: "acme", role: "emperor" })
    assert.notProperty(org, "colour")
    await newer.stop()
  })

  it("that breaks off in the middle of a call is named", async () => {
    const dying = await Listener.start((request, response) => {
      if (request.method === "PUT") return void request.socket.destroy()
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      response.write('{"data":[', () => request.socket.destroy())
    })
    const lost = await Agent.start(at(dying.url))
    for (const [name, parameters] of some) await lost.refused(name, parameters, "SERVER_UNREACHABLE")
    lost.assertProtocol()
    await dying.stop()
  })

  it("that was killed with calls on the way: each call is answered, and later ones too", async () => {
    const victim = await Service.start()
    const { key } = await victim.account("agent", "write")
    const survivor = await Agent.start(victim.at(key))
    await survivor.use("secret_set", { key: "A", value: "b" })
    const calls = Array.from({ length: 50 }, (_, index) =>
      survivor.call("secret_set", { key: `K${index}`, value: "x" }).then(({ isError, text }) => {
        if (isError) assert.match(text, /^(SERVER_UNREACHABLE|NOT_READY): /)
        return isError
      })
    )
    await Promise.race(calls)
    victim.program.signal("SIGKILL")
    await Promise.all(calls)
    await survivor.refused("secret_set", { key: "A", value: "c" }, "SERVER_UNREACHABLE")
    survivor.assertProtocol()
    await victim.stop()
  })
})

describe("many calls at once", () => {
  it("are all answered, each with its own answer", async () => {
    const count = 500
    await agent.use("secret_set", { key: "SHARED", value: "x" })
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        if (index % 5 === 0)
          return (await agent.use("secret_set", { key: `K${index}`, value: `${index}` })).key === `K${index}`
        if (index % 5 === 1) return (await agent.use("secret_get", { key: "SHARED" })).value === "x"
        if (index % 5 === 2) return (await agent.use("health_check")).status === "ok"
        if (index % 5 === 3) return /required/.test(await agent.refused("secret_get", {}, "VALIDATION_ERROR"))
        return /there|exist/.test(await agent.refused("secret_get", { key: `NOT_${index}` }, "NOT_FOUND"))
      })
    )
    assert.isTrue(answers.every((right) => right))
    agent.assertProtocol()
  })
})

describe("parameters of any size and shape", () => {
  it("are answered, briefly", async () => {
    const huge = "hunter2".repeat(700_000)
    for (const parameters of [
      { key: "A", value: huge },
      { key: huge, value: "x" },
      { key: "A", value: "x", org: huge, project: huge },
      { key: "A", value: "x", [huge.slice(0, 1_000_000)]: 1 },
      { key: ["A"], value: { hunter2: "hunter2" } },
      { key: null, value: null, org: null }
    ]) {
      const text = await agent.refused("secret_set", parameters, "VALIDATION_ERROR")
      assert.isBelow(text.length, 1_500)
      assert.notInclude(text, "hunter2")
    }
    assert.isBelow((await agent.unknown(huge)).message.length, 200)
  })

  it("that are no call at all are refused by the protocol, and nothing of them is repeated", async () => {
    const odd = await Agent.start(service.at(key))
    for (const params of [
      { name: "secret_set", arguments: "hunter2" },
      { name: { hunter2: 1 } },
      { arguments: { value: "hunter2" } }
    ]) {
      await odd.client.request({ method: "tools/call", params }, { parse: (x: unknown) => x } as never).then(
        () => assert.fail("it was answered"),
        (error: unknown) => assert.match(String(error), /-32/)
      )
    }
    odd.write(
      '{"hunter2": \n[]\n"hunter2"\n{"jsonrpc":"2.0","id":77,"method":"hunter2"}\n{"jsonrpc":"1.0","id":{"hunter2":1}}\n'
    )
    await odd.use("health_check")
    assert.notInclude(odd.out + odd.log, "hunter2")
    assert.include(odd.log, "a message was refused")
    odd.assertProtocol()
  })

  it("in a message larger than the protocol's 10 MB end the program, and it says why", async () => {
    const drowned = await Agent.start(service.at(key))
    drowned.write(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"${"hunter2".repeat(1_600_000)}"}}\n`)
    assert.deepStrictEqual(await drowned.ended, { code: 1, signal: null })
    assert.include(drowned.log, "the connection was given up")
    assert.notInclude(drowned.out + drowned.log, "hunter2")
    drowned.assertProtocol()
  })
})

/** A server that takes requests and never answers. */
const silent = () => Listener.start(() => {})

describe("a cancelled call", () => {
  it("is interrupted: its request is broken off, it is not answered, and others go on", async () => {
    const waiting = await silent()
    const patient = await Agent.start(at(waiting.url))
    const other = patient.call("secret_list").catch(() => undefined)
    await waiting.visited()
    const abort = new AbortController()
    const call = patient.call("secret_set", { key: "A", value: "b" }, abort.signal)
    const request = await waiting.visited(2)
    const brokenOff = once(request.socket, "close")
    const before = patient.out
    abort.abort("changed my mind")
    await call.then(
      () => assert.fail("it was answered"),
      () => undefined
    )
    await brokenOff
    await patient.refused("secret_get", {}, "VALIDATION_ERROR")
    assert.strictEqual(patient.out.slice(before.length).trim().split("\n").length, 1)
    assert.isFalse(waiting.requests[0]?.socket.destroyed)
    await patient.stop()
    await other
    await waiting.stop()
  })
})

describe("the end", () => {
  it("comes with closed input, SIGTERM and SIGINT, cleanly, with calls on the way too", async () => {
    const waiting = await silent()
    const endings = [
      (agent: Agent) => agent.closeInput(),
      (agent: Agent) => agent.kill("SIGTERM"),
      (agent: Agent) => agent.kill("SIGINT")
    ]
    for (const [index, end] of endings.entries()) {
      const busy = await Agent.start(at(waiting.url))
      const call = busy.call("secret_list").catch(() => undefined)
      const { socket } = await waiting.visited(index + 1)
      const hungUp = once(socket, "close")
      end(busy)
      assert.deepStrictEqual(await busy.ended, { code: 0, signal: null })
      assert.match(busy.log, /^coffer-mcp: \S+ is ready\n$/)
      busy.assertProtocol()
      await hungUp
      await call
    }
    await waiting.stop()
  })

  it("comes when nobody reads any more", async () => {
    const child = spawn(process.execPath, [bin], { env: {}, stdio: ["pipe", "pipe", "ignore"] })
    child.stdout.destroy()
    child.stdin.on("error", () => undefined)
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 0)
  })

  it("comes although nobody reads what was asked for", async () => {
    const child = spawn(process.execPath, [bin], { env: {}, stdio: ["pipe", "pipe", "pipe"] })
    await once(child.stderr, "data")
    const list = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`
    // More comes back than a pipe holds.
    await new Promise((resolve) =>
      child.stdin.write(Array.from({ length: 100 }, (_, id) => list(id)).join(""), resolve)
    )
    child.kill("SIGTERM")
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 0)
  })

  it("does not lose what was asked before it: a list in a pipe", () => {
    const input = [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "0" } }
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list" }
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const { status, stdout } = spawnSync(process.execPath, [bin], { env: {}, input: input.join(""), encoding: "utf8" })
    assert.strictEqual(status, 0)
    const [initialized, list] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.strictEqual(initialized.result.serverInfo.name, "coffer")
    assert.strictEqual(list.result.tools.length, 15)
  })

  it("prints its help or its version, and does not start for an unknown option", () => {
    for (const option of ["--help", "-h"]) {
      const help = spawnSync(process.execPath, [bin, option], { env: {}, encoding: "utf8" })
      assert.deepStrictEqual([help.status, help.stderr], [0, ""])
      assert.match(help.stdout, /^USAGE\n {2}coffer-mcp\n[^]*SERVICE_MCP_PIN[^]*SERVICE_MCP_EXTRA/)
    }
    const unknown = spawnSync(process.execPath, [bin, "--hlep"], { env: {}, encoding: "utf8" })
    assert.deepStrictEqual([unknown.status, unknown.stdout], [2, ""])
    assert.match(unknown.stderr, /^coffer-mcp: [^\n]+ see coffer-mcp --help\n$/)
    const { status, stdout } = spawnSync(process.execPath, [bin, "--version"], { env: {}, encoding: "utf8" })
    assert.strictEqual(status, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  })
})
