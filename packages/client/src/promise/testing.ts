/** The exports of `@coffer/client/promise/testing`: a real server for tests of programs without Effect. */
import { startProcess } from "../testing/DevProcess.js"
import type { Closable } from "./Closable.js"

/** The secrets of each environment. */
export type Seed = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TestServerOptions {
  /** The server's program with its first arguments. By default that of `@coffer/server`, which must be installed. */
  readonly command?: readonly [string, ...Array<string>]
  /** More variables of its process, such as `SERVICE_LOG_LEVEL`. */
  readonly env?: Readonly<Record<string, string>>
}

/** A server as a process of its own, with a temporary database. It ends with this process, if not before. */
export interface RunningServer extends Closable {
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
  const { apiKey, place, url } = server.line
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
