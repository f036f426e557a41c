import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Database, Transaction } from "../Database.js"
import { rowsOf } from "../Rows.js"

/** How many rows one statement merges. */
const rowsAtOnce = 10_000

const MergedRow = Schema.Struct({ merged: Schema.Number })

const statement = `
  WITH merged AS (
    DELETE FROM audit_times WHERE (block, log) IN (
      SELECT block, log FROM audit_times
      WHERE log <> '' AND block < (SELECT max(block) FROM audit_times) - 1
      ORDER BY block LIMIT ${rowsAtOnce} FOR UPDATE SKIP LOCKED)
    RETURNING block, oldest, newest),
  kept AS (
    INSERT INTO audit_times AS t (block, log, oldest, newest)
    SELECT block, '', min(oldest), max(newest) FROM merged GROUP BY block
    ON CONFLICT (block, log) DO UPDATE
      SET oldest = least(t.oldest, excluded.oldest), newest = greatest(t.newest, excluded.newest))
  SELECT count(*) AS merged FROM merged`

/**
 * Merges the rows of finished blocks of `audit_times`. Each log has its own row of a block, so that writers do not wait for a
 * common one; with many logs there would be as many rows as entries. A transaction that commits late adds another row, and
 * rows that an open transaction has locked are left to the next run.
 */
export const mergeAuditTimes = (transaction: Database["Type"]["transaction"]): Effect.Effect<void> =>
  transaction(Effect.flatMap(Transaction, ([open]) => Effect.orDie(open.ask(statement, [])))).pipe(
    Effect.flatMap(rowsOf(MergedRow)),
    Effect.repeat({ while: ([row]) => row?.merged === rowsAtOnce }),
    Effect.asVoid
  )
