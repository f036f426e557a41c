/**
 * Holds the promise of docs/applications.md: any client of a major version works with any server of it. `last` has what is
 * kept of the last release: its packages for applications, byte for byte, and what its server answered them. A release
 * renews it (scripts/release/last.mjs). Until a release has the client, it is what the sources made when this was written.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, it } from "vitest"
import { Coffer } from "../../src/Coffer.js"
import { connect } from "../../src/promise.js"
import { type RunningServer, startTestServer } from "../../src/testing.js"
import { version } from "../../src/Version.js"
import { installed, unpack } from "../support/Installed.js"
import { recorder, type Recording, replay } from "./Recording.js"
import { type Client, walk } from "./Walk.js"

const root = join(import.meta.dirname, "../../../..")
const last = join(import.meta.dirname, "last")
const file = join(last, "server.json")
const isRecording = process.env["COFFER_RECORD_RELEASE"] === "1"

const folder = mkdtempSync(join(tmpdir(), "coffer-last-"))
let server: RunningServer
let lastClient: Client

/** The packages of the last release, beside today's Effect. */
const install = async (): Promise<Client> => {
  const modules = join(folder, "node_modules")
  const tarball = (name: string) => {
    const [found = ""] = readdirSync(last).filter((path) => path.startsWith(`coffer-${name}-`))
    return join(last, found)
  }
  const tarballs = { "@coffer/client": tarball("client"), "@coffer/domain": tarball("domain") }
  unpack(modules, tarballs, installed("effect", "@effect/platform", "yaml"))
  const dist = join(modules, "@coffer/client/dist")
  const [main, promise]: [Pick<Client, "Coffer">, Pick<Client, "connect">] = await Promise.all([
    import(join(dist, "index.js")),
    import(join(dist, "promise.js"))
  ])
  return { Coffer: main.Coffer, connect: promise.connect }
}

const record = async () => {
  const { close, exchanges, url } = await recorder(server.url)
  const seen = await walk(lastClient, { url, apiKey: server.apiKey })
  await close()
  const recording: Recording = { version, seen, exchanges }
  writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`)
}

const start = () => startTestServer({ dev: { A: "1" } })

beforeAll(async () => {
  lastClient = await install()
  server = await start()
  if (!isRecording) return
  await record()
  await server.close()
  server = await start()
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const recording = (): Recording => JSON.parse(readFileSync(file, "utf8"))

it("is the last release, whole", () => {
  const released = [...readFileSync(join(root, "CHANGELOG.md"), "utf8").matchAll(/^## (\S+) /gm)].map(([, one]) => one)
  const { version: kept } = recording()
  assert.strictEqual(released[0], version)
  // While a release is made, its packages are not kept yet.
  assert.include(released.slice(0, 2), kept)
  assert.strictEqual(kept.split(".")[0], version.split(".")[0])
  const names = ["client", "domain"].map((name) => `coffer-${name}-${kept}.tgz`)
  assert.sameMembers(readdirSync(last), [...names, "server.json"])
})

it("has a client that sees of today's server what it saw of its own", async () => {
  assert.deepStrictEqual(await walk(lastClient, server), recording().seen)
})

it("has a server of which today's client sees the same", async () => {
  const { close, url } = await replay(recording())
  assert.deepStrictEqual(await walk({ Coffer, connect }, { url, apiKey: server.apiKey }), recording().seen)
  await close()
})
