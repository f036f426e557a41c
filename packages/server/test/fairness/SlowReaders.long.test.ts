import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"

let program: Program

beforeAll(async () => {
  program = await Program.start()
})
afterAll(async () => {
  await program.remove()
  cleanUp()
})

/** An organization whose bundle has a number of values of 64 KiB. */
const settle = async (org: string, values: number) => {
  const token = await program.login(`${org}@example.com`)
  await program.call("POST", "/api/orgs", { token, body: { name: org } })
  await program.call("POST", `/api/orgs/${org}/projects`, { token, body: { name: "webshop" } })
  const bundle = `/api/orgs/${org}/projects/webshop/envs/dev/bundle`
  for (let first = 0; first < values; first += 40) {
    const keys = Array.from({ length: Math.min(40, values - first) }, (_, index) => `KEY_${first + index}`)
    const set = Object.fromEntries(keys.map((key) => [key, "x".repeat(65_536)]))
    const { status, text } = await program.call("PATCH", bundle, { token, body: { set } })
    assert.strictEqual(status, 200, text)
  }
  return { bundle, org, token }
}

/** The key of a service account that may read. */
const account = async ({ org, token }: { readonly org: string; readonly token: string }, name: string) => {
  const { body } = await program.call("POST", `/api/orgs/${org}/service-accounts`, { token, body: { name } })
  const rule = { project_pattern: "webshop", env_pattern: "dev", permission: "read" }
  const subject = { subject_type: "service_account", subject_id: body.id }
  assert.strictEqual(
    (await program.call("POST", `/api/orgs/${org}/acl`, { token, body: { ...subject, ...rule } })).status,
    201
  )
  return String(body.api_key)
}

/** Asks for a path on a connection of its own, and reads no more than the status. */
const readStatus = async (path: string, key: string) => {
  const socket: Socket = connect({ port: program.port, host: "127.0.0.1" })
  const reader = { isOpen: true, status: "", socket }
  socket.on("error", () => undefined)
  socket.once("close", () => (reader.isOpen = false))
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`)
  await once(socket, "readable")
  reader.status = String(socket.read(12))
  return reader
}

describe("slow readers of one organization", () => {
  it("hold up to its share of the memory of large responses, and no bundle of another organization is refused or cut", async () => {
    const slow = await settle("slow", 110)
    const other = await settle("other", 80)
    const keys = [await account(slow, "first"), await account(slow, "second")]
    const readers = await Promise.all(
      keys.flatMap((key) => Array.from({ length: 4 }, () => readStatus(slow.bundle, key)))
    )
    assert.deepStrictEqual([...new Set(readers.map(({ status }) => status))].sort(), ["HTTP/1.1 200", "HTTP/1.1 503"])
    const held = readers.filter(({ isOpen, status }) => isOpen && status.endsWith("200"))
    assert.isNotEmpty(held)
    for (let round = 0; round < 10; round++) {
      const { body, status } = await program.call("GET", other.bundle, { token: other.token })
      assert.strictEqual(status, 200)
      assert.lengthOf(Object.keys(body.data ?? body), 80)
    }
    assert.isTrue(held.every(({ isOpen }) => isOpen))
    for (const { socket } of readers) socket.destroy()
  })
})
