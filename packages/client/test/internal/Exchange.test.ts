import { makeExchange, patiently } from "@coffer/client/internal/Exchange"
import { noResponseWithin, serverUnreachable } from "@coffer/client/internal/ConnectionProblem"
import { assert, it } from "@effect/vitest"
import { Effect, Either, Fiber, TestClock } from "effect"

const url = "http://127.0.0.1"
const response = { status: 200, headers: {}, body: new Uint8Array() }

const exchange = makeExchange({
  url,
  send: () => Effect.delay(Effect.succeed(response), "31 seconds"),
  headers: Effect.succeed({}),
  unreachable: (failed) => serverUnreachable(url, failed),
  noResponseWithin: (seconds) => noResponseWithin(url, seconds),
  noteStatus: () => undefined
})
const read = exchange.send({ url: new URL(url), method: "GET" })

it.effect("a read takes 30 seconds at most, unless its caller is patient", () =>
  Effect.gen(function* () {
    const both = yield* Effect.fork(Effect.all([read, patiently(read)].map(Effect.either), { concurrency: 2 }))
    yield* TestClock.adjust("31 seconds")
    const [usual, patient] = (yield* Fiber.join(both)).map(Either.isRight)
    assert.deepStrictEqual({ usual, patient }, { usual: false, patient: true })
  })
)
