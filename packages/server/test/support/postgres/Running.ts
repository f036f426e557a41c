import { loadConfig, ServerConfig } from "@coffer/server/base/Config"
import type { Database } from "@coffer/server/database/Database"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { EngineLive } from "@coffer/server/operations/Engine"
import { serverOn } from "@coffer/server/Server"
import { Effect, Exit, Layer, Scope } from "effect"
import { assert } from "vitest"
import { freePort } from "../Port.js"
import { closing, type Json } from "../Program.js"
import { masterKey } from "../Services.js"
import { ScopesChecked } from "../Scoped.js"
import { freshDatabase, settingsOf } from "./Databases.js"

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * Servers in this process on one new database of PostgreSQL, each with a pool and lines of its own. `through` returns the URL
 * behind which they reach it.
 */
export const startServers = async (
  count: number,
  environment: Readonly<Record<string, string>> = {},
  through: (url: string) => string = (url) => url
) => {
  const scope = Effect.runSync(Scope.make())
  const { name, url } = await Effect.runPromise(Scope.extend(freshDatabase(), scope))
  const database = await Effect.runPromise(Scope.extend(postgresDatabase(settingsOf(url)), scope))

  const start = async () => {
    const port = await freePort()
    const config = loadConfig({
      ...{ SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", SERVICE_LOG_LEVEL: "error" },
      ...{ SERVICE_PORT: String(port), SERVICE_DATABASE_URL: through(url), ...environment }
    })
    const live = Layer.provide(
      serverOn(Layer.provideMerge(ScopesChecked, EngineLive)),
      Layer.effect(ServerConfig, config)
    )
    await Effect.runPromise(Layer.buildWithScope(live, scope))
    const send = async ({
      body,
      headers,
      method,
      path
    }: Sent): Promise<{ status: number; text: string; body: Json; etag: string }> => {
      const payload = body === undefined ? null : JSON.stringify(body)
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          ...closing(payload),
          ...headers,
          ...(payload !== null && { "content-type": "application/json" })
        },
        body: payload
      })
      const text = await response.text()
      const json: Json = text.startsWith("{") ? JSON.parse(text) : undefined
      return { status: response.status, text, body: json, etag: response.headers.get("etag") ?? "" }
    }
    return {
      address: `http://127.0.0.1:${port}`,
      send,
      /** Runs what has no call, on the database of the servers. */
      run: <A, E>(effect: Effect.Effect<A, E, Database>): Promise<A> =>
        Effect.runPromise(Effect.provide(effect, database)),
      /** A call that must succeed; returns its body. */
      do: async (headers: Sent["headers"], method: string, path: string, body?: unknown): Promise<Json> => {
        const response = await send({ method, path, headers, body })
        assert.isBelow(response.status, 300, `${method} ${path}: ${response.text}`)
        return response.body
      }
    }
  }

  const servers = []
  for (let index = 0; index < count; index++) servers.push(await start())
  return { name, servers, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
