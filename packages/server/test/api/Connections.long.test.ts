import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Authentication } from "@coffer/domain/access/Actor"
import { Admission } from "@coffer/domain/api/Requirement"
import { makeAdmission } from "@coffer/server/access/Admission"
import type { Timeouts } from "@coffer/server/http/NodeServer"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { assertRefused, Dialogue, parseRaw } from "../support/Program.js"
import { anybody } from "../support/Anybody.js"
import { servingContract } from "../support/Serving.js"

const small = HttpApiEndpoint.get("small", "/small").addSuccess(Schema.String)
const large = HttpApiEndpoint.get("large", "/large").addSuccess(Schema.String).middleware(Authentication)
const never = HttpApiEndpoint.get("never", "/never").addSuccess(Schema.String)
const take = HttpApiEndpoint.post("take", "/take")
  .setPayload(Schema.Struct({ text: Schema.String }))
  .addSuccess(Schema.String)
const group = HttpApiGroup.make("calls").add(small).add(large).add(never).add(take).middleware(Admission)
const contract = HttpApi.make("test").add(group)

/** More than the system holds for a connection. */
const largeText = "x".repeat(12 * 1024 * 1024)
const timeouts: Timeouts = { arrival: 60_000, silence: 60_000 }

/** Serves the small contract on a socket of its own; counts the calls. */
const serving = (options: Partial<Timeouts> = {}) =>
  Effect.gen(function* () {
    const calls = { small: 0, large: 0 }
    const begun = yield* Deferred.make<void>()
    const interrupted = yield* Deferred.make<void>()
    const handlers = HttpApiBuilder.group(contract, "calls", (group) =>
      group
        .handle("small", () => Effect.sync(() => `small ${++calls.small}`))
        .handle("large", () => Effect.sync(() => (calls.large++, largeText)))
        .handle("never", () =>
          Effect.onInterrupt(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never), () =>
            Deferred.succeed(interrupted, undefined)
          )
        )
        .handle("take", ({ payload }) => Effect.sync(() => JSON.stringify(payload)))
    )
    const { port, server } = yield* servingContract(
      HttpApiBuilder.api(contract).pipe(Layer.provide(handlers), Layer.provide(Layer.succeed(Authentication, anybody))),
      Layer.effect(Admission, makeAdmission(contract)),
      { ...timeouts, ...options }
    )
    return { port, calls, begun, interrupted, server }
  })

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const post = (length: number): string =>
  `POST /take HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** A connection that reads no more than the first bytes until somebody listens. */
const deaf = (port: number): Effect.Effect<Socket> =>
  Effect.promise(async () => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.on("error", () => undefined)
    await once(socket, "connect")
    return socket
  })

const until = (holds: () => boolean) =>
  Effect.promise(async () => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
  })

describe("a client that sends slowly", () => {
  it.scopedLive("has a time for its request: a body that has not arrived by then is answered 408", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ arrival: 200 })
      const dialogue = new Dialogue(port)
      dialogue.write(`${post(30)}{"text":`)
      yield* Effect.promise(() => dialogue.closed)
      assertRefused(parseRaw(dialogue.received), 408, "VALIDATION_ERROR", /took too long to arrive/)
    })
  )

  it.scopedLive("has the same for its headers, and one that sends nothing is closed without a word", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ arrival: 200 })
      const [late, silent] = [new Dialogue(port), new Dialogue(port)]
      late.write("GET /small HTTP/1.1\r\nHost: ")
      yield* Effect.promise(() => Promise.all([late.closed, silent.closed]))
      assertRefused(parseRaw(late.received), 408, "VALIDATION_ERROR", /took too long to arrive/)
      assert.strictEqual(silent.received, "")
    })
  )

  it.scopedLive("may send its body byte by byte", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const body = JSON.stringify({ text: "ü".repeat(200) })
      const dialogue = new Dialogue(port)
      dialogue.write(post(Buffer.byteLength(body)))
      for (const byte of Buffer.from(body)) {
        dialogue.write(Uint8Array.of(byte))
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      yield* Effect.promise(() => dialogue.heard(/\r\n\r\n.*"$/))
      assert.strictEqual(parseRaw(dialogue.received).status, 200)
      dialogue.hangUp()
    })
  )
})

describe("a client that hangs up", () => {
  it.scopedLive("ends its request", () =>
    Effect.gen(function* () {
      const { begun, interrupted, port } = yield* serving()
      const dialogue = new Dialogue(port)
      dialogue.write(get("/never"))
      yield* Deferred.await(begun)
      dialogue.hangUp()
      yield* Deferred.await(interrupted)
    })
  )
})

describe("a client that does not read", () => {
  it.scopedLive("is served one request at a time, and what is too much in a row is not served", () =>
    Effect.gen(function* () {
      const { calls, port } = yield* serving()
      const socket = yield* deaf(port)
      socket.write(get("/large") + get("/small").repeat(1_500))
      yield* until(() => calls.large === 1)
      // Another connection is served meanwhile.
      const other = new Dialogue(port)
      other.write(get("/small"))
      yield* Effect.promise(() => other.heard(/"small 1"$/))
      other.hangUp()
      assert.deepStrictEqual(calls, { small: 1, large: 1 })
      let received = ""
      socket.setEncoding("latin1").on("data", (text: string) => {
        received = (received + text).slice(-20_000)
      })
      yield* Effect.promise(() => once(socket, "close"))
      assert.strictEqual(calls.small, 17)
      assert.deepStrictEqual(
        [...received.matchAll(/"small (\d+)"/g)].map(([, number]) => Number(number)),
        Array.from({ length: 16 }, (_, index) => index + 2)
      )
      assert.match(received, /Connection: close\r\n\r\n"small 17"$/)
    })
  )

  it.scopedLive("is cut off when it takes nothing for a while; its neighbours are not", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ silence: 300 })
      const socket = yield* deaf(port)
      const idle = new Dialogue(port)
      idle.write(get("/small"))
      yield* Effect.promise(() => idle.heard(/"small 1"$/))
      socket.write(get("/large"))
      yield* until(() => socket.readableLength > 0)
      let size = 0
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1_500)))
      socket.on("data", (chunk: Buffer) => {
        size += chunk.length
      })
      yield* Effect.promise(() => once(socket, "close"))
      assert.isBelow(size, largeText.length)
      assert.isTrue(idle.open)
      idle.hangUp()
    })
  )

  it.scopedLive("is cut off when it reads too slowly, however steadily", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ silence: 700, rate: 20_000 })
      const socket = yield* deaf(port)
      let isOpen = true
      socket.once("close", () => {
        isOpen = false
      })
      socket.write(get("/large"))
      let size = 0
      // More often than the silence allows, and ten times too slow for the rate.
      while (isOpen && size < largeText.length) {
        const part: unknown = socket.read(Math.min(32 * 1024, socket.readableLength))
        if (Buffer.isBuffer(part)) size += part.length
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
      }
      assert.isFalse(isOpen)
      assert.isBelow(size, largeText.length)
    })
  )

  it.scopedLive("holds no more than its share of what waits: another large answer is refused, a small one is not", () =>
    Effect.gen(function* () {
      const { calls, port } = yield* serving()
      const socket = yield* deaf(port)
      socket.write(get("/large"))
      yield* until(() => calls.large === 1)
      const other = new Dialogue(port)
      other.write(get("/large"))
      yield* Effect.promise(() => other.heard(/OVERLOADED[^]*\}$/))
      const refusal = parseRaw(other.received)
      assertRefused(refusal, 503, "OVERLOADED", /try again in 1 second/)
      assert.strictEqual(refusal.headers.get("retry-after")?.trim(), "1")
      other.write(get("/small"))
      yield* Effect.promise(() => other.heard(/"small 1"$/))
      socket.destroy()
      yield* until(() => socket.destroyed)
      const again = () =>
        Effect.promise(async () => {
          const response = await fetch(`http://127.0.0.1:${port}/large`)
          return [response.status, (await response.text()).length]
        })
      let answer = yield* again()
      while (answer[0] === 503) answer = yield* again()
      assert.deepStrictEqual(answer, [200, largeText.length + 2])
      other.hangUp()
    })
  )
})

describe("what is malformed behind a request", () => {
  it.scopedLive("is not answered into the answer before it, which arrives whole", () =>
    Effect.gen(function* () {
      const { calls, port } = yield* serving()
      const socket = yield* deaf(port)
      socket.write(get("/large"))
      yield* until(() => calls.large === 1 && socket.readableLength > 0)
      socket.write("garbage\r\n\r\n")
      let received = ""
      socket.setEncoding("latin1").on("data", (text: string) => {
        received += text
      })
      yield* Effect.promise(() => once(socket, "close"))
      const { status, text } = parseRaw(received)
      assert.strictEqual(status, 200)
      assert.isTrue(text === JSON.stringify(largeText))
    })
  )

  it.scopedLive("in a body is refused", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const dialogue = new Dialogue(port)
      dialogue.write(
        'POST /take HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"tex\r\nzz\r\n'
      )
      yield* Effect.promise(() => dialogue.closed)
      assertRefused(parseRaw(dialogue.received), 400, "VALIDATION_ERROR")
    })
  )
})
