import { Array, Cause, Data, Effect, Either, Metric, Schedule } from "effect"
import { ServerConfig } from "../base/Config.js"
import { Database } from "../database/Database.js"
import { isDiskFull } from "../base/Reason.js"
import { hasChangedNothing } from "../database/Unavailable.js"
import { Instance } from "../keys/Instance.js"
import { type Break, makeAppend } from "./Append.js"
import { countEntries, type EntryGroup, joinGroups, logOf } from "./AuditEvent.js"
import { AuditRepo } from "./Repo.js"

/** Entries that could not be appended. */
interface Lost {
  readonly group: EntryGroup
  readonly cause: Cause.Cause<unknown>
}

/** How long queued entries wait for a database that cannot be reached. */
const patience = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(10))

/** Rolls back a transaction in which no entry could be appended. */
class NothingAppended extends Data.TaggedError("NothingAppended")<{ readonly reason: Cause.Cause<unknown> }> {}

export const auditFailures = Metric.counter("coffer_audit_failures_total", { incremental: true })

/**
 * Appends groups of entries to their logs, each log in its own savepoint. If that fails, each group gets its own savepoint,
 * so that one bad entry does not lose the entries of other changes.
 */
export const groupAppends = Effect.gen(function* () {
  const { transaction } = yield* Database
  const repo = yield* AuditRepo
  const { auditKey } = yield* Instance
  const { auditRequired } = yield* ServerConfig
  const append = makeAppend(repo, auditKey)
  /** The logs whose last append failed. */
  const failing = new Set<string>()
  /** The logs in which this process found a break. */
  const broken = new Set<string>()

  const reportBreak = ({ head, last, log, seq }: Break) => {
    broken.add(log)
    return Effect.logError(
      `the audit log of ${log} does not end where its head says (head ${head?.seq ?? "none"}, last entry ${last?.seq ?? "none"}): ` +
        `entry ${seq} records that; keep a copy of the database file, and verify the log`
    )
  }

  /** Appends to one log in a savepoint of the open transaction. */
  const appendGroup = (log: string, { drafts, millis }: EntryGroup) =>
    transaction(append(log, drafts, millis)).pipe(
      Effect.flatMap((found) => (found === null ? Effect.void : reportBreak(found))),
      Effect.sandbox,
      Effect.either
    )

  /** Appends to each log in a savepoint; if that fails, each group in one. Returns the groups that could not be appended. */
  const appendGroups = Effect.fnUntraced(function* (groups: ReadonlyArray<EntryGroup>) {
    const lost: Array<Lost> = []
    // Transactions that append to several logs lock them in one order, or they could wait for each other.
    const logs = Object.entries(Array.groupBy(groups, logOf)).sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [log, ofLog] of logs) {
      const together = yield* appendGroup(log, joinGroups(ofLog))
      if (Either.isRight(together)) failing.delete(log)
      else if (ofLog.length === 1) lost.push({ group: ofLog[0], cause: together.left })
      else {
        for (const group of ofLog) {
          const alone = yield* appendGroup(log, group)
          if (Either.isLeft(alone)) lost.push({ group, cause: alone.left })
        }
      }
    }
    return lost
  })

  /** Counts and logs entries that could not be written, and marks their logs as failing for `ready`. */
  const reportLost = (groups: ReadonlyArray<EntryGroup>, cause: Cause.Cause<unknown>) => {
    for (const group of groups) failing.add(logOf(group))
    return Effect.zipRight(
      Metric.incrementBy(auditFailures, countEntries(groups)),
      isDiskFull(Cause.squash(cause))
        ? Effect.logError("audit entries could not be written: the disk with the database is full")
        : Effect.logError("audit entries could not be written", cause)
    )
  }

  const reportEachLost = ([first, ...rest]: ReadonlyArray<Lost>) =>
    first === undefined
      ? Effect.void
      : reportLost(
          [first, ...rest].map(({ group }) => group),
          first.cause
        )

  const appendInOne = (groups: ReadonlyArray<EntryGroup>) =>
    transaction(
      Effect.flatMap(appendGroups(groups), (lost) => {
        const [first] = lost
        return first !== undefined && lost.length === groups.length
          ? new NothingAppended({ reason: first.cause })
          : Effect.succeed(lost)
      })
    )

  /** Logs and counts the entries that were lost; dies if all of them were. */
  const reporting = (groups: ReadonlyArray<EntryGroup>, appended: ReturnType<typeof appendInOne>) =>
    appended.pipe(
      Effect.catchTag("NothingAppended", ({ reason }) => Effect.failCause(Cause.die(Cause.squash(reason)))),
      Effect.tapErrorCause((cause) => reportLost(groups, cause)),
      Effect.flatMap(reportEachLost),
      Effect.uninterruptible
    )

  /** Appends in a separate transaction. */
  const commit = (groups: ReadonlyArray<EntryGroup>) => reporting(groups, appendInOne(groups))

  /** As `commit`, for entries that nobody waits for: tries again while the database cannot be reached. */
  const commitPatiently = (groups: ReadonlyArray<EntryGroup>) =>
    reporting(
      groups,
      appendInOne(groups).pipe(
        Effect.sandbox,
        Effect.retry({ schedule: patience, while: (cause) => hasChangedNothing(Cause.squash(cause)) }),
        Effect.unsandbox
      )
    )

  /** As `commit`, but dies only if the operator requires the audit. */
  const commitIfPossible = (groups: ReadonlyArray<EntryGroup>): Effect.Effect<void> =>
    auditRequired ? commit(groups) : Effect.catchAllCause(commit(groups), () => Effect.void)

  return {
    append,
    appendGroup,
    appendGroups,
    broken,
    commitIfPossible,
    commitPatiently,
    failing,
    reportEachLost,
    reportLost
  } as const
})
