import { appendFileSync, chmodSync, readFileSync, renameSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { place, start } from "./DevProgram.js"

const anyPort = { SERVICE_PORT: "0" }

const served = async (tmp: string, args: ReadonlyArray<string> = []) => {
  const program = start(tmp, args, anyPort)
  const text = await program.out
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
  const call = async (path: string, body?: unknown, token = ""): Promise<Json> => {
    const response = await fetch(`${url}/api${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: body === undefined ? null : JSON.stringify(body)
    })
    return { status: response.status, ...JSON.parse((await response.text()) || "{}") }
  }
  return { ...program, text, url, call }
}

describe("coffer-server dev without a seed", () => {
  it("makes a key and a database for their owner alone, says how to log in, and continues with them", async () => {
    const { left, tmp } = place()
    const folder = join(tmp, "coffer-data")
    const first = await served(tmp)
    assert.include(first.text, `Coffer is at ${first.url}, for this machine alone.`)
    assert.include(first.text, `npx coffer init --server-url ${first.url}`)
    assert.include(first.text, folder)
    assert.isBelow(first.text.split("\n").length, 12)
    const email = "ada@example.com"
    assert.strictEqual((await first.call("/auth/login", { email })).status, 200)
    const [, code] = await first.said(/login code for ada@example\.com: (\d{6})/)
    const { token } = await first.call("/auth/verify", { email, code })
    assert.strictEqual((await first.call("/orgs", { name: "acme" }, token)).status, 201)
    const { code: exit, err } = await first.stop("SIGINT")
    assert.strictEqual(exit, 0)
    assert.match(err, /^Created coffer-data\/\.env with a fresh master key/)
    assert.deepStrictEqual(left(), ["coffer-data"])
    assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
    for (const name of [".env", "service.db"]) assert.strictEqual(statSync(join(folder, name)).mode & 0o077, 0, name)
    assert.strictEqual(readFileSync(join(folder, ".gitignore"), "utf8"), "*\n")

    const second = await served(tmp)
    assert.deepStrictEqual((await second.call("/orgs", undefined, token)).data.length, 1)
    assert.strictEqual((await second.stop("SIGTERM")).err, "")
  })

  it("refuses a folder that would serve others, or whose key others can read", async () => {
    const { tmp } = place()
    await (await served(tmp, ["--data", "mine"])).stop("SIGTERM")
    const file = join(tmp, "mine/.env")
    appendFileSync(file, "SERVICE_HOST=0.0.0.0\n")
    const exposed = await start(tmp, ["--data", "mine"], anyPort).ended
    assert.deepStrictEqual(exposed, {
      code: 2,
      out: "",
      err: "coffer-server: dev serves this machine alone: remove SERVICE_HOST from mine/.env, or run coffer-server with these settings\n"
    })
    chmodSync(file, 0o640)
    const readable = await start(tmp, ["--data", "mine"], anyPort).ended
    assert.deepStrictEqual(readable, {
      code: 1,
      out: "",
      err: 'coffer-server: mine/.env holds the master key and others can read it: run "chmod 600 mine/.env" and start again\n'
    })
    renameSync(file, join(tmp, "elsewhere"))
    symlinkSync(join(tmp, "elsewhere"), file)
    const linked = await start(tmp, ["--data", "mine"], anyPort).ended
    assert.strictEqual(linked.err, "coffer-server: mine/.env is a symbolic link: put the file itself there\n")
    const mixed = await start(tmp, ["--data", "mine", "--json"], anyPort).ended
    assert.strictEqual(mixed.code, 2)
    assert.include(mixed.err, "dev takes --data with a folder;")
  })

  it("tells of a setting of the environment that it does not take", async () => {
    const { tmp } = place()
    const networks = { SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8", SERVICE_ORG: "acme" }
    const first = start(tmp, [], { ...anyPort, ...networks })
    await first.out
    const told =
      "dev ignores SERVICE_RENEWAL_NETWORKS, which is set outside of it: write it to coffer-data/.env, or pass --any-settings."
    assert.include((await first.stop("SIGTERM")).err, told)
    appendFileSync(join(tmp, "coffer-data/.env"), "SERVICE_RENEWAL_NETWORKS=10.0.0.0/8\n")
    const second = start(tmp, [], { ...anyPort, ...networks })
    await second.out
    assert.strictEqual((await second.stop("SIGTERM")).err, "")
  })

  it("serves with all settings of the environment where it is told to, and says only where", async () => {
    const { left, tmp } = place()
    const settings = { ...anyPort, SERVICE_HOST: "127.0.0.1", SERVICE_DB_PATH: "other.db" }
    const { out, stop } = start(tmp, ["--data", ".", "--any-settings"], settings)
    assert.match(await out, /^Coffer is at http:\/\/127\.0\.0\.1:\d+\.\n$/)
    await stop("SIGTERM")
    assert.includeMembers(left(), [".env", "other.db"])
    assert.notInclude(left(), "service.db")
  })

  it("names the setting of another port when its port is taken", async () => {
    const { tmp } = place()
    const first = await served(tmp, ["--data", "one"])
    const second = await start(tmp, ["--data", "two"], { SERVICE_PORT: new URL(first.url).port }).ended
    assert.strictEqual(second.code, 1)
    assert.include(second.err, "end it, or set SERVICE_PORT to another port")
    await first.stop("SIGTERM")
  })

  it("prints its options", async () => {
    const { left, tmp } = place()
    const { code, out } = await start(tmp, ["--help"]).ended
    assert.strictEqual(code, 0)
    for (const option of ["--data", "--seed", "--json", "--attached", "--folder"]) assert.include(out, option)
    assert.deepStrictEqual(left(), [])
  })
})
