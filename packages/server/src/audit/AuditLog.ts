import { NotReady } from "@coffer/domain/Errors"
import { Array, Cause, Data, Effect, Either, Metric, Option, Queue, Schedule } from "effect"
import { ServerConfig } from "../Config.js"
import { afterwards, Database, Transaction, settled } from "../database/Database.js"
import { isDiskFull } from "../database/Reason.js"
import { hasChangedNothing } from "../database/Unavailable.js"
import { Instance } from "../keys/Instance.js"
import { nextTick } from "../EventLoop.js"
import { type Break, makeAppend, systemLog } from "./Append.js"
import { AuditRepo } from "./Repo.js"
import {
  type AuditEvent,
  type AuditSource,
  charactersOf,
  countEntries,
  entryGroup,
  type EntryGroup,
  inBatches,
  joinGroups,
  logOf
} from "./AuditEvent.js"

/** Entries that could not be appended. */
interface Lost {
  readonly group: EntryGroup
  readonly cause: Cause.Cause<unknown>
}

/** How long queued entries wait for a database that cannot be reached. */
const patience = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(10))

/** Rolls back a transaction in which no entry could be appended. */
class NothingAppended extends Data.TaggedError("NothingAppended")<{ readonly reason: Cause.Cause<unknown> }> {}

/** Rolls back the entry of a readiness check. */
class ProbeDone extends Data.TaggedError("ProbeDone") {}

const probe: AuditSource = { actor: { type: "system", id: null, name: "readiness" }, orgId: null }

const queueCapacity = 10_000
/** How many characters of metadata the queue holds: one entry can have 250,000. */
const queueCharacters = 16 * 1024 * 1024
const batchSize = 200
/** How many entries of one change are appended in one event-loop tick. */
const entriesAtOnce = 20
const batchWindow = "25 millis"

export const auditFailures = Metric.counter("coffer_audit_failures_total", { incremental: true })

/**
 * The audit trail. Call `write` in the transaction of the change; its entry is committed with it. `read` queues the entry of a
 * read, which is committed with others within 50 ms. With `SERVICE_AUDIT_REQUIRED`, a read waits for its entry, and a read or
 * change fails if its entry cannot be written.
 *
 * Each log is appended to in its own savepoint. If that fails, each change gets its own savepoint, so that one bad entry does
 * not lose the entries of other changes.
 */
export class AuditLog extends Effect.Service<AuditLog>()("@coffer/server/AuditLog", {
  scoped: Effect.gen(function* () {
    const { beforeCommit, transaction } = yield* Database
    const repo = yield* AuditRepo
    const { auditKey } = yield* Instance
    const { auditRequired } = yield* ServerConfig
    const queue = yield* Queue.bounded<EntryGroup>(queueCapacity)
    const hasQueued = yield* Effect.makeLatch()
    const flushing = yield* Effect.makeSemaphore(1)
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

    /** Fails while the log cannot be appended to. Writes an entry, rolls it back, and writes the head as it was. */
    const probeAppend = (log: string) =>
      transaction(
        Effect.gen(function* () {
          yield* repo.lockHead(log)
          const { head } = yield* repo.end(log)
          const { drafts, millis } = yield* entryGroup(probe, [
            { action: "auth.login", resource_type: "server", resource_id: null }
          ])
          const probing = append(
            log,
            Array.map(drafts, (draft) => ({ ...draft, log, org_id: log === systemLog ? null : log })),
            millis
          )
          yield* transaction(Effect.zipRight(Effect.zipRight(probing, settled), new ProbeDone())).pipe(
            Effect.catchTag("ProbeDone", () => Effect.void)
          )
          if (head !== null) yield* repo.setHead(head)
        })
      )

    const notWritten = new NotReady({ message: "the audit trail cannot be written" })

    const retry = (log: string) =>
      Effect.sandbox(probeAppend(log)).pipe(
        Effect.mapError(() => notWritten),
        Effect.tap(() => {
          failing.delete(log)
        })
      )

    /** Appends the entries of all changes of a group commit together, right before the commit. */
    const appendAtCommit = beforeCommit<EntryGroup>((groups) => Effect.flatMap(appendGroups(groups), reportEachLost))

    /** Appends at the commit. If the audit is required, appends now instead, so that a failure fails the change. */
    const appendInTransaction = (group: EntryGroup): Effect.Effect<void, never, Transaction> =>
      auditRequired
        ? Effect.flatMap(
            appendGroup(logOf(group), group),
            Either.match({
              onLeft: (cause) =>
                Effect.zipRight(afterwards(reportLost([group], cause)), Effect.die(Cause.squash(cause))),
              onRight: () => Effect.void
            })
          )
        : appendAtCommit(group)

    const write = (source: AuditSource, ...events: ReadonlyArray<AuditEvent>): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!Array.isNonEmptyReadonlyArray(events)) return Effect.void
        // Appending all of them at the commit would block the event loop.
        if (events.length > entriesAtOnce) {
          return Effect.forEach(
            Array.chunksOf(events, entriesAtOnce),
            (some, index) =>
              Effect.zipRight(
                index === 0 ? Effect.void : nextTick,
                Effect.flatMap(entryGroup(source, some), (group) => commitIfPossible([group]))
              ),
            { discard: true }
          )
        }
        return Effect.zipWith(entryGroup(source, events), Effect.serviceOption(Transaction), (group, open) =>
          Option.isNone(open)
            ? commitIfPossible([group])
            : Effect.provideService(appendInTransaction(group), Transaction, open.value)
        ).pipe(Effect.flatten)
      })

    /** How many characters of metadata are in the queue. */
    let queued = 0

    /** Returns false if the queue is full. */
    const enqueue = (group: EntryGroup): boolean => {
      const more = charactersOf(group)
      if (queued + more > queueCharacters || !queue.unsafeOffer(group)) return false
      queued += more
      hasQueued.unsafeOpen()
      return true
    }

    const read = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.flatMap(entryGroup(source, [event]), (group) =>
        auditRequired || !enqueue(group) ? commitIfPossible([group]) : Effect.void
      )

    /** As `read`, for a refusal. Inside a transaction it waits for the end, so that a rollback does not lose it. */
    const denied = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.flatMap(
        Effect.serviceOption(Transaction),
        Option.match({
          onNone: () => read(source, event),
          onSome: (open) => Effect.provideService(afterwards(read(source, event)), Transaction, open)
        })
      )

    /** Writes the whole queue in order, after any flush that is already running. */
    const flush = Queue.takeUpTo(queue, batchSize).pipe(
      Effect.map((groups) => {
        for (const group of groups) queued -= charactersOf(group)
        return [...groups]
      }),
      Effect.tap((groups) =>
        Effect.forEach(
          inBatches(groups),
          (batch, index) =>
            Effect.zipRight(
              index === 0 ? Effect.void : nextTick,
              Effect.ignore(Effect.sandbox(commitPatiently(batch)))
            ),
          { discard: true }
        )
      ),
      Effect.repeat({ while: (written) => written.length === batchSize }),
      flushing.withPermits(1),
      Effect.uninterruptible,
      Effect.asVoid
    )

    // `flush` takes and writes uninterruptibly, so entries that an interrupt leaves in the queue go to the final flush.
    const worker = hasQueued.await.pipe(
      Effect.zipRight(hasQueued.close),
      Effect.zipRight(Effect.sleep(batchWindow)),
      Effect.zipRight(flush)
    )
    yield* Effect.addFinalizer(() => flush)
    yield* Effect.forkScoped(Effect.forever(worker))

    return {
      write,
      read,
      denied,
      flush,
      /**
       * Fails with NotReady while a log cannot be appended to; logs whose last append failed are probed. After a break was
       * found, fails until the server is restarted.
       */
      ready: Effect.suspend(() =>
        broken.size > 0
          ? new NotReady({ message: "an audit log was changed behind the server's back: the server's log names it" })
          : Effect.forEach([...failing], retry, { discard: true })
      ),
      /** How many entries of reads are queued. */
      queued: Queue.size(queue)
    } as const
  }),
  dependencies: [AuditRepo.Default]
}) {}
