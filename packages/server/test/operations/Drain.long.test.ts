import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { buffer } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, parseRaw, Program } from "../support/Program.js"

afterAll(cleanUp)

const health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

describe("at SIGTERM", () => {
  it("requests that the system has accepted are read and answered, on new connections and on old ones", async () => {
    const program = await Program.start()
    const old = program.dial()
    old.write(health)
    await old.heard(/\{"status":"ok"\}$/)
    const resting = program.dial()
    await resting.connected
    // While the process stands still, the system accepts connections and takes what they send.
    program.signal("SIGSTOP")
    const dialogues = Array.from({ length: 50 }, () => program.dial())
    await Promise.all(dialogues.map(({ connected }) => connected))
    const before = old.received.length
    for (const dialogue of [...dialogues, old]) dialogue.write(health)
    program.signal("SIGTERM")
    program.signal("SIGCONT")
    await Promise.all([...dialogues, old, resting].map(({ closed }) => closed))
    for (const { received } of dialogues) {
      const { headers, status } = parseRaw(received)
      assert.strictEqual(status, 200)
      // The process may read a request before it hears of the signal.
      assert.oneOf(headers.get("connection")?.trim(), ["close", "keep-alive"])
    }
    assert.strictEqual(parseRaw(old.received.slice(before)).status, 200)
    assert.strictEqual(resting.received, "")
    assert.deepStrictEqual(await program.ended, { code: 0, signal: null })
  })

  it("a request whose end is still to come is waited for", async () => {
    const program = await Program.start()
    const body = JSON.stringify({ email: "ada@example.com" })
    const dialogue = program.dial()
    dialogue.write(
      `POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    )
    const resting = program.dial()
    await resting.connected
    program.signal("SIGTERM")
    await resting.closed
    dialogue.write(body)
    await dialogue.closed
    assert.strictEqual(parseRaw(dialogue.received).status, 200)
    assert.deepStrictEqual(await program.ended, { code: 0, signal: null })
  })

  it("no request on a kept-alive connection is cut: its response says that it is the last", async () => {
    const cut: Array<string> = []
    let last = 0
    for (let stop = 0; stop < 3; stop++) {
      const program = await Program.start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const client = async (index: number) => {
        const own = index === 0 ? agent : new Agent({ keepAlive: true, maxSockets: 1 })
        for (;;) {
          const sent = request({ agent: own, host: "127.0.0.1", port: program.port, path: "/health" })
          sent.end()
          try {
            const [answer] = (await once(sent, "response")) as [IncomingMessage]
            await buffer(answer)
            if (answer.headers.connection === "close") last++
          } catch (error) {
            // A new connection is refused by the system, and nothing was sent.
            const code = error instanceof Error && "code" in error ? String(error.code) : String(error)
            if (sent.reusedSocket) cut.push(code)
            return
          } finally {
            await setTimeout(index % 5)
          }
        }
      }
      const clients = Array.from({ length: 20 }, (_, index) => client(index))
      await setTimeout(300)
      const ended = program.stop()
      await Promise.all(clients)
      assert.deepStrictEqual(await ended, { code: 0, signal: null })
    }
    assert.deepStrictEqual(cut, [])
    assert.isAtLeast(last, 60)
  })
})
