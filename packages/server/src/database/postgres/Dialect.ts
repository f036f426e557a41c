import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { connectionIn, Transaction } from "../Database.js"
import { rowsOf } from "../Rows.js"
import { textWith } from "../Template.js"
import { fenceMigration, newestMigration } from "./Migrations.js"
import { sessionName } from "./SessionName.js"

/** The server's clock, also inside of a transaction, whose `now()` would stand still. */
const clockExpression = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)"

const MillisRow = Schema.Struct({ millis: Schema.Number })

const clockOn = (reading: SqlConnection.Connection) =>
  Effect.contextWithEffect((context: Context.Context<never>) =>
    connectionIn(context, reading).execute(`SELECT ${clockExpression} AS millis`, [], undefined)
  ).pipe(
    Effect.flatMap(rowsOf(MillisRow)),
    Effect.orDie,
    Effect.map(([row]) => row?.millis ?? Number.NaN)
  )

/** A lock by a digest of the name. Two names with the same digest wait for each other needlessly, and no more. */
const lock = (name: string) =>
  Effect.flatMap(Transaction, ([open]) =>
    Effect.orDie(open.ask("SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) IS NULL", [name]))
  ).pipe(Effect.asVoid)

/** The text of statements, whose time is an expression and whose fence check is a condition. A subquery of its own is evaluated once, not for each row. */
export const textAt = (clock: string, fence = "TRUE") =>
  textWith({
    placeholder: (position) => `$${position + 1}`,
    indexHint: () => "",
    fence,
    time: (placeholder) => `(SELECT coalesce(${clock}, ${placeholder}))`
  })

/** The sessions of servers before the schema of the fence have no name of their own. */
const mayHaveSession = `instances.schema < ${fenceMigration} OR EXISTS (
  SELECT 1 FROM pg_stat_activity a WHERE a.application_name = ${sessionName("instances.id")})`

/**
 * The part of the dialect that every PostgreSQL database shares, however it is connected. `fence` is the condition of a
 * fence check.
 */
export const dialectOn = (reading: SqlConnection.Connection, fence: string) =>
  ({
    system: "postgresql",
    schema: newestMigration,
    isShared: true,
    clock: clockOn(reading),
    textOf: textAt(clockExpression, fence),
    clockExpression,
    sizeExpression: "pg_database_size(current_database())",
    mayHaveSession,
    hasLateral: true,
    rowLock: "FOR UPDATE",
    lock
  }) as const
