/** The exports of `@coffer/client/testing`, for tests: a real server with the test's secrets. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { startProcess } from "./testing/DevProcess.js"

/** The secrets of each environment. */
export type Seed = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TestServerOptions {
  /** The server's program with its first arguments. By default that of `@coffer/server`, which must be installed. */
  readonly command?: readonly [string, ...Array<string>]
  /** More variables of its process, such as `SERVICE_LOG_LEVEL`. */
  readonly env?: Readonly<Record<string, string>>
}

/** A server as a process of its own, with a temporary database. It ends with this process, if not before. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string
  /** The key of an account that reads and writes all secrets of the project. */
  readonly apiKey: string
  /** The first environment of the seed, such as `dev/app/dev`. */
  readonly place: string
  /** Writes a secret in `place`, or in another environment of the project. */
  readonly set: (key: string, value: string, place?: string) => Promise<void>
  readonly remove: (key: string, place?: string) => Promise<void>
  /** Kills the server, as a crash does. */
  readonly stop: () => Promise<void>
  /** Starts the server again after `stop`: at the same address, with the same data and key. */
  readonly start: () => Promise<void>
  /** Ends the server and removes its data. */
  readonly close: () => Promise<void>
}

/** Starts a server with these secrets, such as `{ dev: { DATABASE_URL: "postgres://…" } }`. */
export const startTestServer = async (seed: Seed = {}, options: TestServerOptions = {}): Promise<RunningServer> => {
  const server = await startProcess(seed, options)
  const { api_key: apiKey, place, url } = server.line
  const call = async (method: string, place: string, key: string, body?: string) => {
    const [org, project, env] = place.split("/")
    const address = `${url}/api/orgs/${org}/projects/${project}/envs/${env}/secrets/${encodeURIComponent(key)}`
    const answer = await fetch(address, {
      method,
      headers: { "x-api-key": apiKey, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body ?? null
    })
    const text = await answer.text()
    if (!answer.ok)
      return Promise.reject(new Error(`${key} in ${place}: the server answered ${answer.status}: ${text}`))
  }
  return {
    url,
    apiKey,
    place,
    set: (key, value, at = place) => call("PUT", at, key, JSON.stringify({ value })),
    remove: (key, at = place) => call("DELETE", at, key),
    stop: server.stop,
    start: server.start,
    close: server.close,
    [Symbol.asyncDispose]: server.close
  }
}

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
