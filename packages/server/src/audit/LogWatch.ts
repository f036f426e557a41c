import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../database/Query.js"

/** How many logs are looked at by one statement: two look-ups by key each. */
const logsAtOnce = 100

/** How often readiness looks at most, in milliseconds: anybody may ask for it. */
const lookEvery = 1_000
/** How long a look waits for the database, which it says nothing of. */
const patience = "2 seconds"

const LogRow = Schema.Struct({ number: Schema.Number, log: Schema.String, whole: Schema.Number })

/**
 * Makes an effect that returns the logs that end no longer with the entry that their heads name, because another program removed
 * entries or heads. It looks at a page of the list of logs, and the next time at the next one. It verifies no entry and no head:
 * that takes the whole log.
 */
export const makeLogWatch = Effect.gen(function* () {
  const { all } = yield* query
  const page = all(LogRow)`
    SELECT l.number AS number, l.log AS log,
      CASE WHEN EXISTS (
        SELECT 1 FROM audit_heads h JOIN audit_entries e ON e.log = h.log AND e.seq = h.seq AND e.chain = h.chain
        WHERE h.log = l.log
      ) THEN 1 ELSE 0 END AS whole
    FROM audit_logs l WHERE l.number > ${"after"} ORDER BY l.number LIMIT ${"limit"}`
  let after = 0

  return Effect.suspend(() =>
    Effect.map(page({ after, limit: logsAtOnce }), (rows): ReadonlyArray<string> => {
      after = rows.length < logsAtOnce ? 0 : (rows.at(-1)?.number ?? 0)
      return rows.filter(({ whole }) => whole === 0).map(({ log }) => log)
    })
  )
})

/**
 * Makes an effect that looks for logs that another program removed or cut, once a second at most: their next append may be far
 * off. Logs them, and adds them to `broken`.
 */
export const watchLogs = (broken: Set<string>) =>
  Effect.map(makeLogWatch, (removed) => {
    let lookedAt = Number.NEGATIVE_INFINITY
    const report = (log: string) => {
      broken.add(log)
      return Effect.logError(
        `another program removed entries of the audit log of ${log}, or its head: keep a copy of the database, and verify the log`
      )
    }
    return Effect.flatMap(Clock.currentTimeMillis, (millis) => {
      if (broken.size > 0 || millis - lookedAt < lookEvery) return Effect.void
      lookedAt = millis
      return removed.pipe(
        Effect.timeout(patience),
        Effect.catchAllCause(() => Effect.succeed<ReadonlyArray<string>>([])),
        Effect.flatMap((logs) => Effect.forEach(logs, report, { discard: true }))
      )
    })
  })
