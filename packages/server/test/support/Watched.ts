import { once } from "node:events"
import { Agent, type IncomingMessage, request as requestOf } from "node:http"
import { text as textOf } from "node:stream/consumers"
import { Database, Transaction } from "@coffer/server/database/Database"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { ErasuresLive } from "@coffer/server/database/sqlite/Erasure"
import { SqliteSnapshotsLive } from "@coffer/server/database/sqlite/SqliteSnapshots"
import { serverOn } from "@coffer/server/Server"
import { HttpServerRequest } from "@effect/platform"
import Sqlite from "better-sqlite3"
import { type Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { assert } from "vitest"
import { freePort } from "./Port.js"
import { freshFolder, type Json } from "./Program.js"
import { ScopesChecked } from "./Scoped.js"
import { configAt } from "./Services.js"

/** Callbacks while a request is in flight: before each of its steps, the first being 1, and before its body is sent. */
export interface Meanwhile {
  readonly step?: (step: number) => Promise<void> | undefined
  readonly body?: () => Promise<void>
}

export interface Ask {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The header of the request that is watched: what happens meanwhile are requests too. */
const mark = "x-watched"

/**
 * A server in this process, whose requests can be stopped between their steps. A step asks the database outside of a
 * transaction, or is a transaction as a whole.
 */
export const startWatched = async (environment: Readonly<Record<string, string>>) => {
  let beforeStep = (): Promise<void> => Promise.resolve()
  let found: Context.Tag.Service<Database> | undefined
  const step = Effect.flatMap(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) =>
    Option.isSome(request) && request.value.headers[mark] !== undefined
      ? Effect.promise(() => beforeStep())
      : Effect.void
  )
  const stepOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.serviceOption(Transaction), (open) =>
      Option.isSome(open) ? effect : Effect.zipRight(step, effect)
    )
  const Watched = Layer.effect(
    Database,
    Effect.map(Database, (database) => {
      found = database
      return Database.of({
        ...database,
        reading: {
          ...database.reading,
          execute: (text, parameters, transform) => stepOf(database.reading.execute(text, parameters, transform))
        },
        snapshot: (effect) => stepOf(database.snapshot(effect)),
        change: (scopes, effect) => stepOf(database.change(scopes, effect)),
        transaction: (effect) => stepOf(database.transaction(effect))
      })
    })
  ).pipe(Layer.provideMerge(DatabaseLive))

  const port = await freePort()
  const path = `${freshFolder()}/service.db`
  const settings = { SERVICE_PORT: String(port), SERVICE_AUDIT_REQUIRED: "1", SERVICE_LOG_LEVEL: "error" }
  const scope = Effect.runSync(Scope.make())
  const Live = serverOn(
    Layer.provideMerge(Layer.merge(ErasuresLive, SqliteSnapshotsLive), Layer.provideMerge(ScopesChecked, Watched))
  ).pipe(Layer.provide(configAt(path, { ...settings, ...environment })))
  await Effect.runPromise(Layer.buildWithScope(Live, scope))
  const raw = new Sqlite(path, { readonly: true })
  const touched = new Set(["last_used_at", "last_seen_at", "ip_address"])
  /** The columns that the webhook job writes meanwhile. The job reads the audit logs. */
  const sending = new Map([
    ["webhooks", new Set(["seq"])],
    ["webhook_deliveries", new Set(["state", "tries", "status", "reason", "next_at", "updated_at"])]
  ])
  /** A statement that makes one text of rows, which is done within SQLite: a test asks thousands of times. */
  const textOfRows = (columns: ReadonlyArray<string>, from: string) => {
    const row = columns.map((column) => `quote(${column})`).join(" || ',' || ")
    return raw.prepare<[], string | null>(`SELECT group_concat(${row}, char(10)) FROM ${from}`).pluck()
  }
  const tables = raw
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'audit%'")
    .pluck()
    .all()
    .map((name) => {
      const columns = raw.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(name)
      const kept = columns.filter((column) => !touched.has(column) && sending.get(name)?.has(column) !== true)
      return [name, textOfRows(kept, name === "webhook_deliveries" ? `${name} WHERE kind <> 'event'` : name)] as const
    })
  const entries = textOfRows(["id", "action"], "audit_entries WHERE action <> 'access.denied'")
  const all = [...tables, ["audit_entries", entries] as const]
  let known = { version: 0, contents: new Map<string, string>() as ReadonlyMap<string, string> }
  const agent = new Agent({ keepAlive: true })

  const send = async ({ body, headers, method, path }: Ask, beforeBody?: () => Promise<void>) => {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const request = requestOf({
      ...{ port, method, path, agent },
      headers: {
        ...headers,
        ...(sent !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }),
        ...(beforeBody !== undefined && { expect: "100-continue" })
      }
    })
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).once("error", reject)
    })
    if (beforeBody === undefined) request.end(sent)
    else {
      request.flushHeaders()
      await once(request, "continue")
      await beforeBody()
      request.end(sent)
    }
    const response = await responded
    const text = await textOf(response)
    const answered: Json = text.startsWith("{") ? JSON.parse(text) : undefined
    return { status: response.statusCode ?? 0, text, body: answered, etag: response.headers.etag ?? "" }
  }

  return {
    address: `http://127.0.0.1:${port}`,

    /** Runs what has no call, on the server's own database: a second writer in its process would wait for it for ever. */
    run: <A, E>(effect: Effect.Effect<A, E, Database>): Promise<A> =>
      found === undefined
        ? assert.fail("the server has no database")
        : Effect.runPromise(Effect.provideService(effect, Database, found)),

    send: (ask: Ask) => send(ask),

    /** A call that must succeed; returns its body. */
    do: async (headers: Ask["headers"], method: string, path: string, body?: unknown): Promise<Json> => {
      const answer = await send({ method, path, headers, body })
      assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
      return answer.body
    },

    /** Sends a request while something else happens. */
    ask: async (ask: Ask, { body, step }: Meanwhile) => {
      let steps = 0
      beforeStep = () => step?.(++steps) ?? Promise.resolve()
      const answer = await send({ ...ask, headers: { ...ask.headers, [mark]: "1" } }, body)
      beforeStep = () => Promise.resolve()
      return answer
    },

    /** All that the database holds, but for when credentials were used, entries of refusals, and what is sent to webhooks. */
    contents: (): ReadonlyMap<string, string> => {
      // It is another one after each change by another connection.
      const version = raw.pragma("data_version", { simple: true }) as number
      if (known.version !== version) {
        known = { version, contents: new Map(all.map(([name, rows]) => [name, rows.get() ?? ""])) }
      }
      return known.contents
    },

    stop: async () => {
      agent.destroy()
      raw.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
