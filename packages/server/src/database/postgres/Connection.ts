import { createHash } from "node:crypto"
import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Client, type ClientBase, type QueryConfig, type QueryResult, TypeOverrides, types } from "pg"
import { sqlErrorOf } from "./PostgresError.js"

export interface Limits {
  /** How long a statement may take to answer. Its connection is closed then: the network may have failed silently. */
  readonly answerMillis: number
  /** The same for COMMIT, whose outcome is unknown without an answer. */
  readonly commitMillis: number
}

/** The least time for a statement of a request that has waited for its connection. */
export const leastMillis = 500

export const rowTypes = new TypeOverrides()

// The driver would return these as text or booleans: int8, numeric (of `sum`) and bool.
for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) rowTypes.setTypeParser(type, Number)
rowTypes.setTypeParser(types.builtins.BOOL, (text: string) => (text === "t" ? 1 : 0))

/** The statement's name is a digest of its text, so that processes behind one connection pooler agree on it. */
const nameOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 32)

interface Statement extends QueryConfig {
  readonly query_timeout: number
}

/** Makes statements for the driver. Named ones are prepared once a connection; `prepared` is false for poolers without them. */
export const statements = (prepared: boolean, limits: () => Limits) => {
  const names = new Map<string, string>()
  const named = (text: string): string => {
    const known = names.get(text)
    if (known !== undefined) return known
    const name = nameOf(text)
    names.set(text, name)
    return name
  }
  return {
    once: (text: string, values: ReadonlyArray<unknown> = []): Statement => ({
      text,
      values: [...values],
      query_timeout: text === "COMMIT" ? limits().commitMillis : limits().answerMillis
    }),
    repeated: (text: string, values: ReadonlyArray<unknown>): Statement => ({
      ...(prepared && { name: named(text) }),
      text,
      values: [...values],
      query_timeout: limits().answerMillis
    })
  } as const
}

export type Statements = ReturnType<typeof statements>

/** A statement of a request that has used a part of its time. */
export const after = (spentMillis: number, statement: Statement): Statement => ({
  ...statement,
  query_timeout: Math.max(leastMillis, statement.query_timeout - spentMillis)
})

type Rows = ReadonlyArray<Record<string, unknown>>

/** Writes what is sent in one tick to the socket at once, so that the server answers it in one round trip. */
const writeTogether = ({ connection: { stream } }: Client): void => {
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => {
    stream.uncork()
  })
}

/** Runs a statement on a client and calls back once with its result. */
export const send = (
  client: ClientBase,
  statement: Statement,
  done: (error: SqlError.SqlError | null, result: QueryResult<Record<string, unknown>> | null) => void
): void => {
  if (client instanceof Client) writeTogether(client)
  client.query<Record<string, unknown>>(statement, (error: Error | null | undefined, result) => {
    if (error === null || error === undefined) done(null, result)
    else done(sqlErrorOf(error), null)
  })
}

/** Runs a statement on a client. It is uninterruptible, so that the client is free when it ends. */
export const ask = (client: ClientBase, statement: Statement) =>
  Effect.uninterruptible(
    Effect.async<QueryResult<Record<string, unknown>>, SqlError.SqlError>((resume) => {
      send(client, statement, (error, result) => {
        resume(
          result === null ? (error === null ? Effect.die("no result") : Effect.fail(error)) : Effect.succeed(result)
        )
      })
    })
  )

/** Makes the toolkit's connection of a function that runs statements. */
export const connectionOf = (
  { once, repeated }: Statements,
  run: (statement: Statement) => Effect.Effect<QueryResult<Record<string, unknown>>, SqlError.SqlError>
): SqlConnection.Connection => {
  const rows = (statement: Statement): Effect.Effect<Rows, SqlError.SqlError> =>
    Effect.map(run(statement), (result) => result.rows)
  return {
    execute: (text, values) => rows(repeated(text, values)),
    executeUnprepared: (text, values) => rows(once(text, values)),
    executeRaw: (text, values) => run(once(text, values)),
    executeValues: (text, values) => Effect.map(rows(once(text, values)), (found) => found.map(Object.values<unknown>)),
    executeStream: () => Stream.dieMessage("statements are not streamed")
  }
}
