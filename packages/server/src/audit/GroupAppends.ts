import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import { counter } from "../base/Metrics.js"
import { Database } from "../database/Database.js"
import { isDiskFull } from "../base/Reason.js"
import { mayPass } from "../database/SqlErrors.js"
import { OutcomeUnknown } from "../database/Unavailable.js"
import { Instance } from "../keys/Instance.js"
import { type Break, makeAppend } from "./Append.js"
import { countEntries, type EntryGroup, joined } from "./AuditEvent.js"
import { AuditIndex } from "./AuditIndex.js"
import { makeLogList } from "./LogList.js"
import { auditRepo } from "./Repo.js"

/** Entries that could not be appended. */
export interface Lost {
  readonly group: EntryGroup
  readonly cause: Cause.Cause<unknown>
}

/** Whether the entries can be appended later. */
const isDelayed = ({ cause }: Lost): boolean => mayPass(Cause.squash(cause))

/** Groups by their logs, in one order: transactions that lock several logs could wait for each other. */
const byLog = (groups: ReadonlyArray<EntryGroup>) =>
  Object.entries(Array.groupBy(groups, ({ log }) => log)).sort(([a], [b]) => (a < b ? -1 : 1))

export const auditFailures = counter(
  "coffer_audit_write_failures_total",
  "Audit entries that were lost: the database refused them, or the server ended first"
)

/**
 * Appends groups of entries to their logs: within the transaction of changes each log in its own savepoint, and otherwise all
 * in one transaction. If that fails, each group gets its own, so that one bad entry does not lose the entries of others.
 */
export const groupAppends = Effect.gen(function* () {
  const { transaction } = yield* Database
  const repo = yield* auditRepo
  const index = yield* AuditIndex
  const { auditKey } = yield* Instance
  /** The logs whose last append failed. */
  const failing = new Set<string>()
  const list = yield* makeLogList(auditKey)
  yield* Effect.catchAllCause(list.addUnlisted, (cause) =>
    Effect.logWarning("the list of audit logs could not be completed: the next start tries again", cause)
  )
  const append = makeAppend(repo, list, auditKey, failing)
  /** The logs in which this process found a break. */
  const broken = new Set<string>()

  const reportBreak = ({ head, last, log, seq }: Break) => {
    broken.add(log)
    return Effect.logError(
      `the audit log of ${log} does not end where its head says (head ${head?.seq ?? "none"}, last entry ${last?.seq ?? "none"}): ` +
        `entry ${seq} records that; keep a copy of the database file, and verify the log`
    )
  }

  const appendTo = (log: string, { drafts, millis }: Pick<EntryGroup, "drafts" | "millis">) =>
    append(log, drafts, millis).pipe(
      Effect.zipLeft(index.noteAppend(log, drafts.length)),
      Effect.flatMap((found) => (found === null ? Effect.void : reportBreak(found)))
    )

  /** Appends to one log in a savepoint of the open transaction. */
  const appendGroup = (log: string, group: Pick<EntryGroup, "drafts" | "millis">) =>
    Effect.either(Effect.sandbox(transaction(appendTo(log, group))))

  /** Appends to each log in a savepoint; if that fails, each group in one. Returns the groups that could not be appended. */
  const appendGroups = Effect.fnUntraced(function* (groups: ReadonlyArray<EntryGroup>) {
    const lost: Array<Lost> = []
    for (const [log, ofLog] of byLog(groups)) {
      const together = yield* appendGroup(log, joined(ofLog))
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
  const reportLost = (
    groups: ReadonlyArray<EntryGroup>,
    cause: Cause.Cause<unknown>,
    entries = countEntries(groups)
  ) => {
    for (const group of groups) failing.add(group.log)
    return Effect.zipRight(
      Metric.incrementBy(auditFailures, entries),
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

  /** Appends in one transaction, all or none. With `ifFree`, returns null if another transaction has locked the log. */
  const appendInOne = (groups: ReadonlyArray<EntryGroup>, ifFree: boolean) =>
    transaction(
      Effect.gen(function* () {
        const logs = byLog(groups)
        if (ifFree) for (const [log] of logs) if (!(yield* repo.lockIfFree(log))) return null
        for (const [log, ofLog] of logs) {
          yield* appendTo(log, joined(ofLog))
          failing.delete(log)
        }
        return []
      })
    )

  /** Groups whose commit was sent and not confirmed: they may be in the log. */
  const uncertain = new WeakSet<EntryGroup>()

  /** Omits the groups that are in the log after all. The server has not appended many others since. */
  const withoutAppended = Effect.fnUntraced(function* (groups: ReadonlyArray<EntryGroup>) {
    const logs = new Set(groups.filter((group) => uncertain.has(group)).map(({ log }) => log))
    if (logs.size === 0) return groups
    const rows = yield* Effect.forEach(logs, (log) => repo.newest({ log }))
    const ids = new Set(rows.flat().map(({ id }) => id))
    return groups.filter(({ drafts: [{ id }] }) => !ids.has(id))
  })

  /** Reports the entries that were refused, and returns those that can be appended later. */
  const separate = (lost: ReadonlyArray<Lost>) => {
    const [refused, delayed] = Array.partition(lost, isDelayed)
    for (const { group } of delayed) failing.add(group.log)
    return Effect.as(reportEachLost(refused), delayed)
  }

  const committing = (groups: ReadonlyArray<EntryGroup>, ifFree: boolean): Effect.Effect<ReadonlyArray<Lost> | null> =>
    Effect.flatMap(withoutAppended(groups), (left) => appendInOne(left, ifFree)).pipe(
      Effect.catchAllCause((cause) => {
        const reason = Cause.squash(cause)
        if (reason instanceof OutcomeUnknown) for (const group of groups) uncertain.add(group)
        return groups.length === 1 || mayPass(reason)
          ? Effect.succeed(groups.map((group): Lost => ({ group, cause })))
          : Effect.map(
              Effect.forEach(groups, (group) => committing([group], false)),
              (lost) => lost.flatMap((found) => found ?? [])
            )
      }),
      Effect.uninterruptible
    )

  /** Appends in separate transactions. Returns the groups that could not be appended. */
  const commit = (groups: ReadonlyArray<EntryGroup>) => Effect.map(committing(groups, false), (lost) => lost ?? [])

  /** The same for groups of one log, unless another transaction has it: returns null then. */
  const commitIfFree = (groups: ReadonlyArray<EntryGroup>) => committing(groups, true)

  return {
    append,
    appendGroup,
    appendGroups,
    broken,
    commit,
    commitIfFree,
    failing,
    reportLost,
    separate
  } as const
})
