import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { once } from "node:events"
import { afterAll, assert, beforeAll, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"

// The cost of many clients that are slow to send or to read, as the system counts the server's memory.

const mebibyte = 1024 * 1024
const env = "/api/orgs/acme/projects/webshop/envs/dev"

let program: Program
let token: string

beforeAll(async () => {
  program = await Program.start()
  token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
})

afterAll(async () => {
  await program.remove()
  cleanUp()
})

const sizeOf = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1] ?? 0) / 1024

const dial = async (): Promise<Socket> => {
  const socket = connect({ port: program.port, host: "127.0.0.1" })
  socket.on("error", () => undefined)
  await once(socket, "connect")
  return socket
}

const head = (line: string, ...fields: ReadonlyArray<string>): string =>
  [line, "Host: x", `Authorization: Bearer ${token}`, ...fields, "", ""].join("\r\n")

/** A write of a bundle of which only a part comes. */
const patch = (bytes: number): string =>
  head(`PATCH ${env}/bundle HTTP/1.1`, "Content-Type: application/json", `Content-Length: ${16 * mebibyte}`) +
  " ".repeat(bytes)

it("1,000 connections that send slowly and 100 that read slowly cost at most 100 MiB", async () => {
  const set: Record<string, string> = {}
  for (let index = 0; index < 110; index++) set[`KEY_${index}`] = "x".repeat(65_536)
  assert.strictEqual((await program.call("PATCH", `${env}/bundle`, { token, body: { set } })).status, 200)
  const size = Buffer.byteLength((await program.call("GET", `${env}/bundle`, { token })).text)
  assert.isAbove(size, 6 * mebibyte)
  const before = sizeOf()

  const senders: Array<Socket> = []
  for (let index = 0; index < 1_000; index++) {
    const socket = await dial()
    socket.write(patch(16 * 1024))
    senders.push(socket)
  }
  const readers: Array<Socket> = []
  for (let index = 0; index < 100; index++) {
    const socket = await dial()
    socket.write(head(`GET ${env}/bundle HTTP/1.1`))
    readers.push(socket)
  }
  // All of it is there when a call that came last is answered, and each reader has been given something.
  for (const socket of readers) {
    while (socket.readableLength === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.strictEqual((await program.call("GET", "/health")).status, 200)
  const cost = sizeOf() - before

  const heads = readers.map((socket) => String(socket.read(12)))
  assert.deepStrictEqual([...new Set(heads)].sort(), ["HTTP/1.1 200", "HTTP/1.1 503"])
  for (const socket of [...senders, ...readers]) socket.destroy()
  assert.isBelow(cost, 100)

  // And when they have gone, there is room again.
  let status = 503
  while (status === 503) status = (await program.call("GET", `${env}/bundle`, { token })).status
  assert.strictEqual(status, 200)
})

it("bodies that do not end are held up to a bound, and what others send and ask for is served", async () => {
  const eve = await program.login("eve@example.com")
  const senders: Array<Socket> = []
  let refused = 0
  for (let index = 0; index < 60; index++) {
    const socket = await dial()
    socket.once("data", (chunk: Buffer) => {
      if (/^HTTP\/1\.1 503/.test(chunk.toString("latin1"))) refused++
    })
    socket.write(patch(mebibyte))
    senders.push(socket)
  }
  // One organization has half of 64 MiB.
  while (refused < 24) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.strictEqual((await program.call("GET", "/health")).status, 200)
  assert.strictEqual((await program.call("POST", "/api/orgs", { token: eve, body: { name: "eves" } })).status, 201)
  assert.strictEqual((await program.call("POST", "/api/auth/login", { body: { email: "a@example.com" } })).status, 200)
  for (const socket of senders) socket.destroy()
  let status = 503
  while (status === 503) {
    status = (await program.call("POST", "/api/orgs", { token, body: { name: "others" } })).status
  }
  assert.strictEqual(status, 201)
})
