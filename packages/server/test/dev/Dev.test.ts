import { statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { place, served, start } from "./DevProgram.js"

describe("coffer-server dev", () => {
  it("serves the secrets of a file by a key that reads and writes the project, and leaves nothing", async () => {
    const { file, left, tmp } = place({ qa: { A: "1", "B.c": "é\n" }, dev: { A: "2" } })
    const server = await served(tmp, ["--seed", file])
    assert.strictEqual(server.place, "dev/app/qa")
    assert.deepStrictEqual(await server.values("qa"), { status: 200, A: "1", "B.c": "é\n" })
    assert.deepStrictEqual(await server.values("dev"), { status: 200, A: "2" })
    assert.strictEqual((await server.call("PUT", "/projects/app/envs/qa/secrets/C", { value: "3" })).status, 200)
    assert.deepStrictEqual(await server.values("qa"), { status: 200, A: "1", "B.c": "é\n", C: "3" })
    assert.strictEqual((await server.call("GET", "/members")).status, 403, "the key is the project's")
    assert.strictEqual(left().length, 1)
    assert.strictEqual(statSync(join(tmp, left()[0] ?? "")).mode & 0o777, 0o700)
    const { code, err, out } = await server.stop("SIGTERM")
    assert.deepStrictEqual({ code, err, out }, { code: 0, err: "", out: `${JSON.stringify(server.line)}\n` })
    assert.deepStrictEqual(left(), [])
  })

  it("serves two at once, which know nothing of each other", async () => {
    const { left, tmp } = place()
    const servers = await Promise.all(
      ["one", "two"].map((value) => served(tmp, ["--seed", place({ dev: { A: value } }).file, "--attached"]))
    )
    for (const [index, server] of servers.entries()) {
      assert.deepStrictEqual(await server.values("dev"), { status: 200, A: ["one", "two"][index] })
    }
    const [first, second] = servers
    assert.strictEqual(
      (await fetch(`${first?.url}/api/auth/me`, { headers: { "x-api-key": second?.api_key } })).status,
      401
    )
    for (const { child } of servers) child.stdin.end()
    assert.deepStrictEqual(await Promise.all(servers.map(async ({ ended }) => (await ended).code)), [0, 0])
    assert.deepStrictEqual(left(), [], "gone when standard input ends")
  })

  it("tells a person where it is and how to go on, and prints the key once", async () => {
    const { file, left, tmp } = place({ dev: { A: "hunter2" }, qa: {} })
    const { out, stop } = start(tmp, ["--seed", file])
    const text = await out
    const [, url = ""] = /SERVICE_SERVER_URL=(\S+)/.exec(text) ?? []
    const [, key = ""] = /SERVICE_API_KEY=(\S+)/.exec(text) ?? []
    assert.strictEqual((await fetch(`${url}/api/auth/me`, { headers: { "x-api-key": key } })).status, 200)
    assert.match(text, /with the place dev\/app\/dev\./)
    assert.match(text, /other places are dev\/app\/qa:/)
    assert.match(text, /SERVICE_ORG=dev SERVICE_PROJECT=app SERVICE_ENV=dev\n/)
    assert.strictEqual(text.split(key).length, 2)
    assert.deepStrictEqual(await stop("SIGINT"), { code: 0, out: text, err: "" })
    assert.notInclude(text, "hunter2")
    assert.deepStrictEqual(left(), [])
  })
})
