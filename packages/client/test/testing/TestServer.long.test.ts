import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type RunningServer, startTestServer, TestServer } from "@coffer/client/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { until } from "../../../cli/test/support/Programs.js"

/** The values of an environment, as a client reads them. */
const valuesOf = async ({ apiKey, url }: Pick<RunningServer, "url" | "apiKey">, place: string) => {
  const [org, project, env] = place.split("/")
  const answer = await fetch(`${url}/api/orgs/${org}/projects/${project}/envs/${env}/bundle?format=object`, {
    headers: { "x-api-key": apiKey }
  })
  return answer.json()
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail("it was not refused"),
    (error: unknown) => (error instanceof Error ? error.message : assert.fail("it is no error"))
  )

/** The folders of this process's servers. */
const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`coffer-dev-${process.pid}-`))

describe("A server for tests", () => {
  it("has the secrets of the test, takes others, and leaves nothing", async () => {
    const server = await startTestServer({ dev: { A: "1" }, "eu-west": { "B.c": "é" } })
    assert.strictEqual(server.place, "dev/app/dev")
    await server.set("C", "3")
    await server.set("D", "4", "dev/app/eu-west")
    await server.remove("A")
    assert.deepStrictEqual(await valuesOf(server, server.place), { C: "3" })
    assert.deepStrictEqual(await valuesOf(server, "dev/app/eu-west"), { "B.c": "é", D: "4" })
    assert.match(
      await refusal(server.set("A B", "hunter2")),
      /^A B in dev\/app\/dev: the server answered 400: (?!.*hunter2)/
    )
    await server.close()
    assert.deepStrictEqual(folders(), [])
    assert.match(await refusal(fetch(server.url)), /fetch failed/)
  })

  it("crashes and starts again with the same address, key and data", async () => {
    const server = await startTestServer({ dev: { A: "1" } })
    await server.set("B", "2")
    assert.match(await refusal(server.start()), /the server runs: stop it first/)
    await server.stop()
    await server.stop()
    assert.match(await refusal(server.set("B", "3")), /fetch failed/)
    await server.start()
    assert.deepStrictEqual(await valuesOf(server, server.place), { A: "1", B: "2" })
    await server.stop()
    await server[Symbol.asyncDispose]()
    assert.deepStrictEqual(folders(), [])
  })

  it.effect("is a layer for programs in Effect", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* server.set("B", "2")
      yield* server.stop
      yield* server.start
      const { place, url } = server
      const found = yield* Effect.promise(() => valuesOf({ url, apiKey: Redacted.value(server.apiKey) }, place))
      assert.deepStrictEqual(found, { A: "1", B: "2" })
      const { message } = yield* Effect.flip(server.remove("nowhere"))
      assert.match(message, /^nowhere in dev\/app\/dev: the server answered 404/)
    }).pipe(Effect.provide(TestServer.layer({ dev: { A: "1" } })))
  )

  it("says what is wrong with a seed, and with the program", async () => {
    assert.match(
      await refusal(startTestServer({ dev: { "A B": "hunter2" } })),
      /^the server did not start: coffer-server: \S+seed\.json, line 1: dev: "A B": a secret key has(?!.*hunter2)/
    )
    assert.match(await refusal(startTestServer({}, { command: ["/nowhere/coffer-server"] })), /ENOENT/)
    assert.deepStrictEqual(folders(), [])
  })

  const script = (text: string, cwd: string) => {
    const built = new URL("../../dist/testing.js", import.meta.url).href
    const source = `import { startTestServer } from ${JSON.stringify(built)}\n${text}`
    return {
      args: ["--input-type=module", "-e", source],
      options: { cwd, env: { PATH: process.env["PATH"], TMPDIR: cwd } }
    }
  }

  it("does not outlive its process, however that ends, nor keep it alive", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "coffer-client-"))
    const command = JSON.stringify([
      process.execPath,
      fileURLToPath(new URL("../../../server/bin/coffer-server.js", import.meta.url))
    ])
    const start = `const { url } = await startTestServer({}, { command: ${command} })\nconsole.log(url)\n`
    const left = script(start, cwd)
    const ended = spawnSync(process.execPath, left.args, { ...left.options, encoding: "utf8", timeout: 60_000 })
    assert.strictEqual(ended.status, 0, ended.stderr)
    assert.deepStrictEqual(readdirSync(cwd), [])

    const killed = script(`${start}setInterval(() => {}, 1_000)`, cwd)
    const child = spawn(process.execPath, killed.args, killed.options)
    const [line]: Array<Buffer> = await once(child.stdout, "data")
    const url = String(line).trim()
    assert.strictEqual((await fetch(`${url}/health`)).status, 200)
    child.kill("SIGKILL")
    const isGone = async () => {
      while (
        await fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false
        )
      )
        await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await isGone()
    // A later server removes the empty folder of the killed process.
    const [rest = ""] = readdirSync(cwd)
    await until(() => readdirSync(join(cwd, rest)).length === 0 || undefined, "the end of its data")
    rmSync(cwd, { recursive: true, force: true, maxRetries: 10 })
  })
})
