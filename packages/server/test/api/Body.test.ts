import { UnsupportedMediaType } from "@coffer/domain/errors/Errors"
import { bodyFails, hasBody, isAnything, linger, readBody, readBytes } from "@coffer/server/http/Body"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Either, Exit, Fiber } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"

/** Sends the text of a request to a real server, and returns what `read` makes of the request. */
const exchange = async <A>(
  head: ReadonlyArray<string>,
  read: (request: IncomingMessage, client: Socket) => Promise<A>,
  body = ""
): Promise<A> => {
  const server = createServer()
  server.on("clientError", (_error, socket) => socket.destroy())
  await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1")
  client.on("error", () => undefined).resume()
  const requested = once(server, "request")
  client.write(`${["POST / HTTP/1.1", "Host: test", ...head].join("\r\n")}\r\n\r\n${body}`)
  const [request] = (await requested) as [IncomingMessage]
  try {
    return await read(request, client)
  } finally {
    client.destroy()
    server.closeAllConnections()
    server.close()
  }
}

const json = "Content-Type: application/json"
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`
const always = () => true

/** The value of a body, or the tag of the error with its message. */
const result = async (request: IncomingMessage, limit = 1_000, reserve: (bytes: number) => boolean = always) => {
  const exit = await Effect.runPromiseExit(readBody(request, limit, reserve))
  if (Exit.isSuccess(exit)) return { value: exit.value }
  const error = Cause.squash(exit.cause)
  return { tag: (error as { readonly _tag: string })._tag, message: (error as Error).message }
}
const read = (head: ReadonlyArray<string>, body: string, limit?: number, reserve?: (bytes: number) => boolean) =>
  exchange(head, (request) => result(request, limit, reserve), body)

describe("the body of a request", () => {
  const body = '{"a":[1,2]}'

  it("is read as JSON, by its length or in chunks", async () => {
    assert.deepStrictEqual(await read([json, lengthOf(body)], body), { value: { a: [1, 2] } })
    const chunked = `${(5).toString(16)}\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`
    assert.deepStrictEqual(await read([json, "Transfer-Encoding: chunked"], chunked), { value: { a: [1, 2] } })
  })

  it("is an empty object if it is absent, whatever its type", async () => {
    assert.deepStrictEqual(await read([], ""), { value: {} })
    assert.deepStrictEqual(await read(["Content-Length: 0", "Content-Type: text/plain"], ""), { value: {} })
    for (const [head, expected] of [
      [["Content-Length: 0"], false],
      [["Content-Length: 1"], true],
      [["Transfer-Encoding: chunked"], true],
      [[], false]
    ] as const) {
      assert.strictEqual(await exchange(head, (request) => Promise.resolve(hasBody(request))), expected)
    }
  })

  it("has no bytes if it is absent, whatever types are read", async () => {
    const unacceptable = new UnsupportedMediaType({ message: "of no type" })
    const bytes = (head: ReadonlyArray<string>) =>
      exchange(head, (request) =>
        Effect.runPromise(Effect.either(readBytes(request, 1_000, always, () => false, unacceptable)))
      )
    assert.deepStrictEqual(await bytes(["Content-Length: 0"]), Either.right(Buffer.alloc(0)))
    assert.deepStrictEqual(await bytes(["Content-Length: 1"]), Either.left(unacceptable))
  })

  it("is JSON in UTF-8 and not compressed, by its headers", async () => {
    for (const [type, isTaken] of [
      ["application/json", true],
      ["Application/JSON ; charset=UTF-8", true],
      ['application/json;charset="utf-8"', true],
      ['application/json; charset = "utf-8" ', true],
      ["application/json; charset=utf8", false],
      [" application/json ", true],
      ["application/json; charset=latin1", false],
      ["application/json; x=1", false],
      ["application/jsonp", false],
      ["text/json", false],
      ["xapplication/json", false],
      ["", false]
    ] as const) {
      const found = await read([`Content-Type: ${type}`, lengthOf(body)], body)
      assert.strictEqual("value" in found, isTaken, type)
      if ("tag" in found) assert.strictEqual(found.tag, "UnsupportedMediaType")
    }
    assert.strictEqual((await read([lengthOf(body)], body)).tag, "UnsupportedMediaType")
    assert.strictEqual((await read([json, "Content-Encoding: gzip", lengthOf(body)], body)).tag, "UnsupportedMediaType")
    assert.deepStrictEqual(await read([json, "Content-Encoding: identity", lengthOf(body)], body), {
      value: { a: [1, 2] }
    })
  })

  it("may be of any type where a call says so", async () => {
    const value = await exchange(
      ["Content-Type: text/plain", lengthOf(body)],
      (request) => Effect.runPromise(readBody(request, 1_000, always, isAnything)),
      body
    )
    assert.deepStrictEqual(value, { a: [1, 2] })
  })

  it("is taken up to the limit: by its length before it arrives, in chunks as they arrive", async () => {
    const size = body.length
    const chunked = `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    assert.property(await read([json, lengthOf(body)], body, size), "value")
    assert.property(await read([json, "Transfer-Encoding: chunked"], chunked, size), "value")
    for (const found of [
      await read([json, lengthOf(body)], "", size - 1),
      await read([json, "Transfer-Encoding: chunked"], chunked, size - 1)
    ]) {
      assert.strictEqual(found.tag, "PayloadTooLarge")
      assert.include(found.message, `${size - 1} bytes`)
    }
  })

  it("reserves what it takes: no more than its length, and twice what has arrived of one in chunks", async () => {
    const held = async (head: ReadonlyArray<string>, text: string, limit: number) => {
      const taken: Array<number> = []
      await read(head, text, limit, (bytes) => taken.push(bytes) > 0)
      return taken
    }
    assert.deepStrictEqual(await held([json, lengthOf(body)], body, 1_000), [body.length])
    const one = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const long = `"${"x".repeat(98)}"`
    const chunks = `${one(long.slice(0, 40))}${one(long.slice(40, 50))}${one(long.slice(50))}0\r\n\r\n`
    assert.deepStrictEqual(await held([json, "Transfer-Encoding: chunked"], chunks, 1_000), [40, 40, 80])
    assert.deepStrictEqual(await held([json, "Transfer-Encoding: chunked"], chunks, 110), [40, 40, 30])

    // Chunks that fit into the reserved memory take no more, up to its last byte.
    const taken: Array<number> = []
    const short = `"${"x".repeat(78)}"`
    const pieces = [short.slice(0, 40), short.slice(40, 50), short.slice(50, 70), short.slice(70)].map(one)
    const found = await read(
      [json, "Transfer-Encoding: chunked"],
      `${pieces.join("")}0\r\n\r\n`,
      1_000,
      (bytes) => taken.push(bytes) > 0
    )
    assert.deepStrictEqual([found, taken], [{ value: "x".repeat(78) }, [40, 40]])
  })

  it("reserves its own length in all, when it arrives in pieces", async () => {
    const taken: Array<number> = []
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const found = await exchange([json, lengthOf(body)], async (request, client) => {
      const reading = result(request, 1_000, (bytes) => {
        begin()
        return taken.push(bytes) > 0
      })
      client.write(body.slice(0, 8))
      await begun
      client.write(body.slice(8))
      return reading
    })
    assert.deepStrictEqual([found, taken], [{ value: { a: [1, 2] } }, [8, body.length - 8]])
  })

  it("is refused as overloaded if the memory is used up, now or later", async () => {
    assert.strictEqual((await read([json, lengthOf(body)], body, 1_000, () => false)).tag, "Overloaded")
  })

  it("is refused if the connection ends before it is whole", async () => {
    const found = await exchange([json, "Content-Length: 100"], (request, client) => {
      const reading = result(request)
      client.destroy()
      return reading
    })
    assert.strictEqual(found.tag, "ValidationError")
    assert.include(found.message, "ended before it was whole")
  })

  it("is late or gone if the server says so, before or while it is read", async () => {
    for (const [failure, tag] of [
      ["late", "TooSlow"],
      ["gone", "ValidationError"]
    ] as const) {
      const before = await exchange([json, "Content-Length: 100"], (request) => {
        bodyFails(request, failure)
        return result(request)
      })
      assert.strictEqual(before.tag, tag)
      const meanwhile = await exchange([json, "Content-Length: 100"], (request) => {
        const reading = result(request)
        bodyFails(request, failure)
        return reading
      })
      assert.strictEqual(meanwhile.tag, tag)
    }
  })

  it("is let go of when its reader has ended or was interrupted", async () => {
    const listeners = (request: IncomingMessage) =>
      ["data", "end", "error", "close"].map((event) => request.listenerCount(event))
    await exchange(
      [json, lengthOf(body)],
      async (request) => {
        const before = listeners(request)
        await result(request)
        assert.deepStrictEqual(listeners(request), before)
      },
      body
    )
    await exchange([json, "Content-Length: 100"], async (request) => {
      const before = listeners(request)
      const fiber = Effect.runFork(readBody(request, 1_000, always))
      await Effect.runPromise(Effect.yieldNow())
      assert.notDeepEqual(listeners(request), before)
      await Effect.runPromise(Fiber.interrupt(fiber))
      assert.deepStrictEqual(listeners(request), before)
      bodyFails(request, "late")
    })
  })
})

describe("the rest of a body that nobody reads", () => {
  it("is discarded for two seconds, then the connection is closed unless it has arrived by then", async () => {
    const start = performance.now()
    const late = exchange([json, "Content-Length: 1000000"], async (request, client) => {
      linger(request)
      await once(client, "close")
      assert.isTrue(request.socket.destroyed)
      assert.isAtLeast(performance.now() - start, 1_900)
    })
    const whole = exchange([json, "Content-Length: 4"], async (request, client) => {
      linger(request)
      client.write("1234")
      await once(request, "end")
      await new Promise((resolve) => setTimeout(resolve, 2_100))
      assert.isFalse(request.socket.destroyed)
    })
    await Promise.all([late, whole])
  })
})
