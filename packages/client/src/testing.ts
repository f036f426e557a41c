/** The exports of `@coffer/client/testing`, for tests: a real server with the test's secrets. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type Seed, startTestServer, type TestServerOptions } from "./promise/testing.js"

export { type RunningServer, type Seed, startTestServer, type TestServerOptions } from "./promise/testing.js"

/** The failure of a test server to do what a test asked for. */
export class TestServerError extends Data.TaggedError("TestServerError")<{ readonly message: string }> {}

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, TestServerError> =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new TestServerError({ message: error instanceof Error ? error.message : String(error) })
  })

/** A real server for the tests of programs in Effect. */
export class TestServer extends Context.Tag("@coffer/client/testing/TestServer")<
  TestServer,
  {
    readonly url: string
    readonly apiKey: Redacted.Redacted
    readonly place: string
    readonly set: (key: string, value: string, place?: string) => Effect.Effect<void, TestServerError>
    readonly remove: (key: string, place?: string) => Effect.Effect<void, TestServerError>
    /** Kills the server, as a crash does. */
    readonly stop: Effect.Effect<void, TestServerError>
    /** Starts the server again after `stop`: at the same address, with the same data and key. */
    readonly start: Effect.Effect<void, TestServerError>
  }
>() {
  /** A server with these secrets, for the life of the layer. */
  static layer = (seed: Seed = {}, options: TestServerOptions = {}): Layer.Layer<TestServer, TestServerError> =>
    Layer.scoped(
      TestServer,
      Effect.map(
        Effect.acquireRelease(
          attempt(() => startTestServer(seed, options)),
          ({ close }) => Effect.promise(close)
        ),
        ({ apiKey, place, remove, set, start, stop, url }) => ({
          url,
          apiKey: Redacted.make(apiKey),
          place,
          set: (key, value, at) => attempt(() => set(key, value, at)),
          remove: (key, at) => attempt(() => remove(key, at)),
          stop: attempt(stop),
          start: attempt(start)
        })
      )
    )
}
