import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { delegationLimit, idleMillis, sessionMillis } from "../../access/caller/SessionLimits.js"
import { Database, type Transaction } from "../../database/Database.js"
import { Erasures } from "../../database/Erasures.js"
import { unlessLocked } from "../../database/UnlessLocked.js"
import { databaseTime, query, type Sql, sql } from "../../database/Query.js"
import { Jobs } from "../../database/jobs/Jobs.js"
import { ServerConfig } from "../../base/Config.js"
import { ago, now } from "../../base/Time.js"
import { WrapBudget } from "../../keys/WrapBudget.js"
import { makeRuleExpiry } from "../../directory/acl/RuleExpiry.js"
import { makeRequestExpiry } from "../../directory/requests/RequestExpiry.js"
import { makeEnvironmentExpiry } from "../../secrets/environments/EnvironmentExpiry.js"
import { makeErasing } from "../../secrets/trash/Erasing.js"
import { makeImportPurge } from "../../secrets/archives/ImportPurge.js"
import { KeyExpiry } from "../../directory/service-accounts/KeyExpiry.js"
import { keptMillis } from "../../edges/webhooks/FanOut.js"
import { forEachInSlices, nextTick } from "../../base/EventLoop.js"
import { IdRow } from "../../database/Rows.js"

const hourMillis = 60 * 60 * 1000
const hourly = { every: "1 hour", lease: "2 minutes" } as const

/** How many rows one transaction deletes, or one statement reads. */
const batchSize = 200

const UserRow = Schema.Struct({ user_id: Schema.String })
const KindRow = Schema.Struct({ kind: Schema.String })
const HeadRow = Schema.Struct({ log: Schema.String, seq: Schema.Number, chain: Schema.String })

/**
 * The hourly maintenance. Deletes sessions older than 30 days or idle in a browser for 12 hours, and sessions of service accounts, login codes, challenges, failures, rate events
 * and logins of programs older than an hour, and sessions of keys, delegations and groups of logins that have ended: no such session and no window of a rate limit is longer. So do requests that wait for a
 * person, and deliveries of webhooks after 30 days. Announces keys and environments that end soon, and removes access rules and environments that have ended. Erases removed places that nothing brings back. Logs the heads of the audit logs, so that copies of the log can prove a truncation.
 */
export class Maintenance extends Effect.Service<Maintenance>()("@coffer/server/Maintenance", {
  effect: Effect.gen(function* () {
    const { maintain, transaction } = yield* Database
    const { all, returning } = yield* query
    const unlocked = yield* unlessLocked
    const wraps = yield* WrapBudget
    const erasures = yield* Erasures
    const jobs = yield* Jobs
    const expiry = yield* KeyExpiry
    const rules = yield* makeRuleExpiry
    const requests = yield* makeRequestExpiry
    const environments = yield* makeEnvironmentExpiry
    const trash = yield* makeErasing
    const purgeImports = yield* makeImportPurge
    const limit = delegationLimit(yield* ServerConfig)

    const headsAfter = all(HeadRow)`
      SELECT log, seq, chain FROM audit_heads WHERE log > ${"after"} ORDER BY log LIMIT ${"limit"}`

    const deleteBatch = (table: Sql<never>) =>
      returning(IdRow)`
        DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE created_at <= ${"until"} LIMIT ${"limit"} ${unlocked})
        RETURNING id`

    const batches = {
      sessions: deleteBatch(sql`sessions`),
      idle: returning(IdRow)`
        DELETE FROM sessions WHERE id IN (
          SELECT id FROM sessions WHERE kind = 'cookie' AND last_used_at <= ${"until"} LIMIT ${"limit"} ${unlocked})
        RETURNING id`,
      federated: deleteBatch(sql`federated_sessions`),
      keySessions: returning(IdRow)`
        DELETE FROM key_sessions WHERE id IN (
          SELECT id FROM key_sessions WHERE expires_at <= ${"until"} LIMIT ${"limit"} ${unlocked})
        RETURNING id`,
      challenges: deleteBatch(sql`passkey_challenges`),
      codes: deleteBatch(sql`login_codes`),
      failures: deleteBatch(sql`login_failures`),
      events: deleteBatch(sql`rate_events`),
      clientLogins: deleteBatch(sql`client_logins`),
      approvals: deleteBatch(sql`approvals`),
      deliveries: returning(IdRow)`
        DELETE FROM webhook_deliveries WHERE id IN (
          SELECT d.id FROM webhook_deliveries d WHERE d.created_at <= ${"until"}
            AND (d.state <> 'pending' OR NOT EXISTS (
              SELECT 1 FROM webhooks w JOIN organizations o ON o.id = w.org_id AND o.removed_at IS NULL
              WHERE w.id = d.webhook_id AND w.removed_at IS NULL))
          LIMIT ${"limit"} ${unlocked})
        RETURNING id`
    }

    /** A longer limit must not bring back the delegations that the server's limit ended. */
    const endedDelegations = returning(IdRow)`
      DELETE FROM delegations WHERE id IN (
        SELECT id FROM delegations
        WHERE expires_at <= ${databaseTime} OR created_at <= ${databaseTime} - ${"maxMillis"} LIMIT ${"limit"} ${unlocked})
      RETURNING id`

    const endedExports = returning(IdRow)`
      DELETE FROM exports WHERE id IN (
        SELECT id FROM exports WHERE expires_at <= ${databaseTime} LIMIT ${"limit"} ${unlocked})
      RETURNING id`

    const freedNames = returning(KindRow)`
      DELETE FROM freed_names WHERE (kind, parent_id, name) IN (
        SELECT kind, parent_id, name FROM freed_names WHERE expires_at <= ${databaseTime} LIMIT ${"limit"} ${unlocked})
      RETURNING kind`

    const loginGroups = returning(UserRow)`
      DELETE FROM login_groups WHERE (user_id, org_id, provider_group) IN (
        SELECT user_id, org_id, provider_group FROM login_groups WHERE expires_at <= ${databaseTime} LIMIT ${"limit"} ${unlocked})
      RETURNING user_id`

    /** Deletes rows in small transactions, so that other changes are not delayed; without those that another transaction has locked. */
    const removeAll = (batch: Effect.Effect<ReadonlyArray<unknown>, never, Transaction>): Effect.Effect<void> =>
      Effect.flatMap(transaction(batch), (removed) =>
        removed.length < batchSize ? Effect.void : Effect.zipRight(nextTick, removeAll(batch))
      )

    /** Deletes the rows from before `until`. */
    const remove = (rows: keyof typeof batches, until: string) => removeAll(batches[rows]({ until, limit: batchSize }))

    const tidy = Effect.gen(function* () {
      const anHourAgo = yield* ago(hourMillis)
      yield* remove("sessions", yield* ago(sessionMillis))
      yield* remove("idle", yield* ago(idleMillis))
      yield* remove("federated", anHourAgo)
      yield* remove("keySessions", yield* now)
      yield* removeAll(endedDelegations({ ...limit, limit: batchSize }))
      yield* removeAll(loginGroups({ limit: batchSize }))
      yield* removeAll(freedNames({ limit: batchSize }))
      yield* removeAll(endedExports({ limit: batchSize }))
      yield* purgeImports
      yield* remove("challenges", anHourAgo)
      yield* remove("codes", anHourAgo)
      yield* remove("failures", anHourAgo)
      yield* remove("events", anHourAgo)
      yield* remove("clientLogins", anHourAgo)
      yield* remove("approvals", anHourAgo)
      yield* remove("deliveries", yield* ago(keptMillis))
    })

    /** Page by page: there is a head for each organization, even a removed one. */
    const logHeadsAfter = (after: string): Effect.Effect<void> =>
      Effect.flatMap(headsAfter({ after, limit: batchSize }), (rows) =>
        Effect.zipRight(
          forEachInSlices(rows, ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log}: ${seq} ${chain}`)),
          Effect.suspend(() => {
            const last = rows.at(-1)
            return last === undefined || rows.length < batchSize
              ? Effect.void
              : Effect.zipRight(nextTick, logHeadsAfter(last.log))
          })
        )
      )
    const logHeads = logHeadsAfter("")

    /** The jobs that no server has done in this hour. On SQLite, all of them: a start must not wait for the next hour. */
    const sweep = Effect.gen(function* () {
      yield* jobs.run({ name: "heads", ...hourly }, () => logHeads)
      yield* jobs.run({ name: "wraps", ...hourly }, wraps.count)
      yield* wraps.load
      yield* jobs.run({ name: "expiry", ...hourly }, (fenced) =>
        expiry
          .announce(fenced)
          .pipe(
            Effect.zipRight(rules.expireAll(fenced)),
            Effect.zipRight(requests.expireAll(fenced)),
            Effect.zipRight(environments.announceAll(fenced)),
            Effect.zipRight(environments.expireAll(fenced))
          )
      )
      yield* jobs.run({ name: "tidy", ...hourly }, () =>
        tidy.pipe(Effect.zipRight(maintain), Effect.zipRight(erasures.finish))
      )
      // Last, because a large organization takes its time.
      yield* jobs.run({ name: "trash", ...hourly }, trash.eraseDue)
    }).pipe(Effect.withSpan("Maintenance.sweep"))

    return { sweep } as const
  }),
  dependencies: [Jobs.Default, KeyExpiry.Default]
}) {}

/**
 * Runs maintenance at the start and every hour. With several servers, each looks every minute for jobs that none has done
 * in this hour, or that another server began and did not end. A failure is logged and does not end the schedule.
 */
export const MaintenanceLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { sweep } = yield* Maintenance
    const { isShared } = yield* Database
    yield* sweep.pipe(
      Effect.catchAllCause((cause) => Effect.logError("maintenance failed", cause)),
      Effect.repeat(Schedule.spaced(isShared ? "1 minute" : "1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Maintenance.Default))
