import { Admission } from "@coffer/domain/api/Requirement"
import { makeAdmission } from "@coffer/server/access/Admission"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule, Schema, Stream } from "effect"
import { logged } from "../support/Logged.js"
import { servingContract } from "../support/Serving.js"

const Bounded = Schema.Struct({ text: Schema.String.pipe(Schema.maxLength(5)) })

const group = HttpApiGroup.make("calls")
  .add(HttpApiEndpoint.get("sound", "/sound").addSuccess(Schema.String))
  .add(HttpApiEndpoint.get("odd", "/odd").addSuccess(Schema.String))
  .add(HttpApiEndpoint.get("unfit", "/unfit").addSuccess(Bounded))
  .add(HttpApiEndpoint.post("either", "/either").setPayload(Bounded).addSuccess(Bounded))
  .add(HttpApiEndpoint.get("stream", "/stream").addSuccess(Schema.String))
  .add(HttpApiEndpoint.get("broken", "/broken").addSuccess(Schema.String))
  .add(HttpApiEndpoint.get("scope", "/scope").addSuccess(Schema.String))
  .middleware(Admission)
const contract = HttpApi.make("test").add(group)

const pieces = (ends: Stream.Stream<Uint8Array>) =>
  Stream.make(Buffer.from("one "), Buffer.from("two ")).pipe(
    Stream.schedule(Schedule.spaced("20 millis")),
    Stream.concat(ends)
  )

let closed = 0

const handlers = HttpApiBuilder.group(contract, "calls", (calls) =>
  calls
    .handle("sound", () => Effect.succeed("sound"))
    .handle("odd", () => Effect.succeed(HttpServerResponse.raw({ not: "bytes" })))
    .handle("unfit", () => Effect.succeed({ text: "a marked answer" }))
    .handle("either", ({ payload }) => Effect.succeed({ text: `${payload.text} marked` }))
    .handle("stream", () => Effect.succeed(HttpServerResponse.stream(pieces(Stream.make(Buffer.from("three"))))))
    .handle("broken", () => Effect.succeed(HttpServerResponse.stream(pieces(Stream.dieMessage("no more")))))
    .handle("scope", () =>
      Effect.as(
        Effect.addFinalizer(() => Effect.sync(() => closed++)),
        "scoped"
      )
    )
)

const serving = Effect.map(
  servingContract(
    HttpApiBuilder.api(contract).pipe(Layer.provide(handlers)),
    Layer.effect(Admission, makeAdmission(contract))
  ),
  ({ port }) =>
    (path: string, options: RequestInit = {}) =>
      Effect.tryPromise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          ...options,
          signal: AbortSignal.timeout(5_000)
        })
        return { status: response.status, headers: response.headers, text: await response.text() }
      })
)

const errors = ({ lines }: ReturnType<typeof logged>) => lines.filter((line) => line.startsWith("ERROR"))

describe("the server", () => {
  it.scopedLive("ends the connection of an answer that cannot be sent, and serves the next", () =>
    Effect.gen(function* () {
      const log = logged()
      const ask = yield* Effect.provide(serving, log.layer)
      const { cause } = yield* Effect.flip(ask("/odd"))
      assert.notInclude(String(cause), "Timeout")
      assert.deepStrictEqual(errors(log), ["ERROR a response could not be sent"])
      assert.strictEqual((yield* ask("/sound")).text, '"sound"')
    })
  )

  it.scopedLive("returns 500 for an answer that does not fit its schema, and logs the field without its value", () =>
    Effect.gen(function* () {
      const log = logged()
      const ask = yield* Effect.provide(serving, log.layer)
      const json = { "content-type": "application/json" }
      for (const answer of [
        yield* ask("/unfit"),
        yield* ask("/either", { method: "POST", headers: json, body: '{"text":"x"}' })
      ]) {
        assert.strictEqual(answer.status, 500)
        assert.match(answer.text, /^\{"error":\{"code":"INTERNAL_ERROR"/)
      }
      assert.deepStrictEqual(errors(log), Array(2).fill("ERROR a response does not match its schema at text"))
      const refused = yield* ask("/either", { method: "POST", headers: json, body: '{"text":"too long"}' })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /"message":"text: /)
    })
  )

  it.scopedLive("sends a stream as it comes, and cuts the connection of one that breaks", () =>
    Effect.gen(function* () {
      const log = logged()
      const ask = yield* Effect.provide(serving, log.layer)
      const whole = yield* ask("/stream")
      assert.deepStrictEqual([whole.status, whole.text], [200, "one two three"])
      assert.strictEqual(whole.headers.get("cache-control"), "no-store")
      assert.strictEqual((yield* ask("/stream", { method: "HEAD" })).text, "")
      yield* Effect.flip(ask("/broken"))
      assert.include(log.lines.join("\n"), "a response was cut short")
    })
  )

  it.scopedLive("closes the scope of a request once it is answered", () =>
    Effect.gen(function* () {
      const ask = yield* serving
      assert.strictEqual((yield* ask("/scope")).text, '"scoped"')
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => closed === 1 })
    })
  )
})
