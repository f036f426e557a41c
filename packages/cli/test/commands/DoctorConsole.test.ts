import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type Server as HttpServer } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ConsoleFiles } from "../../src/commands/doctor/ConsoleCheck.js"
import { runInProcess } from "../support/InProcess.js"
import { Server, TestHome } from "../support/Programs.js"

let server: Server
let home: TestHome
let front: HttpServer
let address: string
let list: string

/** Changes a response in the proxy before the server, by its path, status and body. An undefined body has no end. */
let change: (path: string, status: number, body: Buffer) => readonly [number, Buffer | undefined]

beforeAll(async () => {
  server = await Server.start()
  home = new TestHome(server.url)
  list = await (await fetch(`${server.url}/console.json`)).text()
  front = createServer((incoming, response) => {
    const path = incoming.url ?? ""
    void fetch(server.url + path).then(async (answer): Promise<void> => {
      const [status, body] = change(path, answer.status, Buffer.from(await answer.arrayBuffer()))
      response.writeHead(status, { date: new Date().toUTCString() })
      if (body !== undefined) return void response.end(body)
      while (!response.closed)
        if (!response.write(Buffer.alloc(65_536))) await once(response, "drain").catch(() => undefined)
    })
  }).listen(0, "127.0.0.1")
  await once(front, "listening")
  const bound = front.address()
  address = `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`
})
afterAll(async () => {
  front.closeAllConnections()
  front.close()
  home.remove()
  await server.stop()
})

/** Returns doctor's result for the console, with the list of a client's release. */
const says = async (files: string, url = address) => {
  const { stdout } = await Effect.runPromise(
    Effect.provideService(
      runInProcess(["doctor", "--json"], { HOME: home.folder, SERVICE_SERVER_URL: url }),
      ConsoleFiles,
      files
    )
  )
  const { data }: { data: ReadonlyArray<Record<"check" | "state" | "message", string>> } = JSON.parse(stdout)
  const { message, state } = data.find(({ check }) => check === "console") ?? assert.fail(stdout)
  return `${state}: ${message}`
}

const { files, version } = { files: () => Object.keys(JSON.parse(list).files), version: () => JSON.parse(list).version }

describe("the console that coffer doctor compares", () => {
  it("is the same as the release, file by file, as the server serves it", async () => {
    assert.isAbove(files().length, 15)
    assert.include(files(), "/")
    assert.strictEqual(
      await says(list, server.url),
      `ok: the same as the release ${version()}: ${files().length} files`
    )
  })

  it("is not asked for by a client of no release, and not compared where the server has no list of its files", async () => {
    assert.match(await says("", server.url), /^ok: not compared: this client was not made by a release/)
    change = (path, status, body) => (path === "/console.json" ? [404, Buffer.alloc(0)] : [status, body])
    assert.match(await says(list), /^warning: not compared: the server has a console and no list of its files/)
    change = (path, status, body) => (path === "/console.json" ? [200, Buffer.from("<html>")] : [status, body])
    assert.match(await says(list), /^warning: not compared: \S+\/console\.json is no list of files/)
  })

  it("is of another version, for which the client has no list", async () => {
    change = (_, status, body) => [status, body]
    assert.strictEqual(
      await says(list.replace(`"${version()}"`, '"9.8.7"')),
      `warning: not compared: it is of coffer ${version()}, and this client has the list of 9.8.7 alone; use the client of that release`
    )
  })

  it("differs in one byte of one file, in a file without an end, or lacks one: each is named", async () => {
    const script = files().find((path: string) => path.endsWith(".js"))
    const remedy = "do not sign in there until its operator has installed the release again"
    const flipped = (body: Buffer) => Buffer.concat([Buffer.from([(body[0] ?? 0) ^ 1]), body.subarray(1)])
    change = (path, status, body) => [status, path === script ? flipped(body) : body]
    const changed = `problem: the server has changed ${script}, a file of the release ${version()}`
    assert.strictEqual(await says(list), `${changed}; ${remedy}`)
    change = (path, status, body) => [status, path === script ? undefined : body]
    assert.strictEqual(await says(list), `${changed}; ${remedy}`)
    change = (path, status, body) =>
      path === "/" ? [404, body] : [status, path.endsWith(".css") && body.length > 0 ? flipped(body) : body]
    const styles = files().filter((path: string) => path.endsWith(".css"))
    assert.strictEqual(
      await says(list),
      `problem: the server lacks / (status 404), a file of the release ${version()}, and ${styles.length} more differ; ${remedy}`
    )
  })
})
