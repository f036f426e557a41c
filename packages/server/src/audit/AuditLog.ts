import { NotReady } from "@coffer/domain/errors/Errors"
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { ServerConfig } from "../base/Config.js"
import { afterCommit, afterwards, Database, Transaction, settled } from "../database/Database.js"
import { nextTick } from "../base/EventLoop.js"
import { isDiskFull } from "../base/Reason.js"
import { missingEntry } from "./Append.js"
import {
  type AuditEvent,
  type AuditSource,
  countEntries,
  entryGroup,
  type EntryGroup,
  systemLog,
  systemSource
} from "./AuditEvent.js"
import { groupAppends, type Lost } from "./GroupAppends.js"
import { watchLogs } from "./LogWatch.js"
import { makePending } from "./Pending.js"
import { AuditIndex } from "./AuditIndex.js"
import { auditRepo } from "./Repo.js"

/** Rolls back the entry of a readiness check. */
class ProbeDone extends Data.TaggedError("ProbeDone") {}

const probe = systemSource("readiness")

/** How many entries of one change are appended in one event-loop tick. */
const entriesAtOnce = 64
const batchWindow = "45 millis"
const retryWindow = "1 second"
/** How long entries of reads give way to the changes of their log, in milliseconds. */
const patience = 1_000
/** How often the last flush is tried before the server ends. */
const lastTries = 10

/** Whether a change must not be made without its entry, whatever `SERVICE_AUDIT_REQUIRED` says. */
const isRequired = ({ action }: AuditEvent) =>
  action === "secret.use" ||
  action === "secret.push" ||
  action === "connection.test" ||
  action === "orphan.delete" ||
  action === "secret.due" ||
  action === "audit.archive"

/** The groups that give way to changes of their logs, by log. */
type Held = Map<string, ReadonlyArray<EntryGroup>>

/**
 * The audit trail. An entry has three ways in. `change` appends in the transaction of the change; its entries are committed with
 * it. `seen` queues the entry of a read, which is committed with others within 50 ms; on a shared database it gives way to changes
 * of its log for up to a second. `refused` does the same for a refusal. Entries that the database fails to take are kept, and
 * written later. With `SERVICE_AUDIT_REQUIRED`, a read waits for its entry, and a read or change fails if its entry cannot be
 * written.
 */
export class AuditLog extends Effect.Service<AuditLog>()("@coffer/server/AuditLog", {
  scoped: Effect.gen(function* () {
    const { beforeCommit, isShared, transaction } = yield* Database
    const repo = yield* auditRepo
    const { auditRequired } = yield* ServerConfig
    const pending = makePending()
    const hasPending = yield* Effect.makeLatch()
    const flushing = yield* Effect.makeSemaphore(1)
    const appends = yield* groupAppends
    const { broken, failing } = appends
    const watch = yield* watchLogs(broken)

    let isDelaying = false

    /** Logs the first delay, and the end of all. */
    const noteDelay = ([first]: ReadonlyArray<Lost>) => {
      const [before, now] = [isDelaying, first !== undefined]
      isDelaying = now
      if (before === now) return Effect.void
      if (first === undefined) return Effect.logInfo("the delayed audit entries are written")
      return isDiskFull(Cause.squash(first.cause))
        ? Effect.logError("audit entries could not be written and are kept: the disk with the database is full")
        : Effect.logError("audit entries could not be written and are kept", first.cause)
    }

    /** Keeps entries that the database failed to take, until it takes them. */
    const keep = (delayed: ReadonlyArray<Lost>) =>
      Effect.suspend(() => {
        for (const { group } of delayed) pending.keep(group)
        if (delayed.length > 0) hasPending.unsafeOpen()
        return noteDelay(delayed)
      })

    /** Appends in a separate transaction. Entries that cannot be appended now are kept, or fail the caller if they are required. */
    const append = (group: EntryGroup): Effect.Effect<void> =>
      Effect.flatMap(appends.commit([group]), (lost) => {
        const [first] = lost
        return first !== undefined && auditRequired
          ? Effect.zipRight(appends.reportLost([group], first.cause), Effect.die(Cause.squash(first.cause)))
          : Effect.flatMap(appends.separate(lost), keep)
      })

    /** Fails while the log cannot be appended to. Writes an entry, rolls it back, and writes the head as it was. */
    const probeAppend = (log: string) =>
      transaction(
        Effect.gen(function* () {
          const { head } = yield* repo.lockedEnd(log)
          const { drafts, millis } = yield* entryGroup(probe, [
            { action: "auth.login", resource_type: "server", resource_id: null }
          ])
          const probing = appends.append(
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
    const appendAtCommit = beforeCommit<EntryGroup>((groups) =>
      Effect.flatMap(appends.appendGroups(groups), (lost) =>
        lost.length === 0 ? Effect.void : afterCommit(Effect.flatMap(appends.separate(lost), keep))
      )
    )

    /** Appends now, so that a failure fails the change. */
    const appendNow = (group: EntryGroup): Effect.Effect<void, never, Transaction> =>
      Effect.flatMap(
        appends.appendGroup(group.log, group),
        Either.match({
          onLeft: (cause) =>
            Effect.zipRight(afterwards(appends.reportLost([group], cause)), Effect.die(Cause.squash(cause))),
          onRight: () => Effect.void
        })
      )

    /** Appends the entries of a change: at its commit, or now if it must not be made without them. */
    const change = (
      source: AuditSource,
      ...events: ReadonlyArray<AuditEvent>
    ): Effect.Effect<void, never, Transaction> =>
      Effect.suspend(() => {
        if (!Array.isNonEmptyReadonlyArray(events)) return Effect.void
        const isNeeded = auditRequired || events.some(isRequired)
        if (events.length <= entriesAtOnce) {
          return Effect.flatMap(entryGroup(source, events), isNeeded ? appendNow : appendAtCommit)
        }
        // Appending all of them at the commit would block the event loop.
        return Effect.forEach(
          Array.chunksOf(events, entriesAtOnce),
          (some, index) =>
            Effect.zipRight(
              index === 0 ? Effect.void : nextTick,
              Effect.flatMap(entryGroup(source, some), isNeeded ? appendNow : append)
            ),
          { discard: true }
        )
      })

    const seen = (source: AuditSource, ...events: Array.NonEmptyReadonlyArray<AuditEvent>): Effect.Effect<void> =>
      Effect.flatMap(entryGroup(source, events), (group) => {
        if (auditRequired || !pending.offer(group)) return append(group)
        hasPending.unsafeOpen()
        return Effect.void
      })

    /** Inside a transaction it waits for the end, so that a rollback does not lose the entry. */
    const refused = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.flatMap(
        Effect.serviceOption(Transaction),
        Option.match({
          onNone: () => seen(source, event),
          onSome: (open) => Effect.provideService(afterwards(seen(source, event)), Transaction, open)
        })
      )

    /** Appends a batch, or holds it while another transaction has its log, so that reads do not stand before a change. */
    const appendBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<EntryGroup>, held: Held | null) {
      const millis = yield* Clock.currentTimeMillis
      const [first] = batch
      if (!isShared || held === null || first === undefined || millis - first.millis > patience) {
        return yield* appends.commit(batch)
      }
      const { log } = first
      const lost = held.has(log) ? null : yield* appends.commitIfFree(batch)
      if (lost === null) held.set(log, [...(held.get(log) ?? []), ...batch])
      return lost ?? []
    })

    /** Appends batches, and puts back what is delayed. Returns whether nothing is. */
    const appendBatches = Effect.fnUntraced(function* (
      batches: ReadonlyArray<ReadonlyArray<EntryGroup>>,
      held: Held | null
    ) {
      const delayed: Array<Lost> = []
      for (const [index, batch] of batches.entries()) {
        if (index > 0) yield* nextTick
        delayed.push(...(yield* Effect.flatMap(appendBatch(batch, held), appends.separate)))
      }
      pending.putBack(delayed.map(({ group }) => group))
      if (batches.length > 0) yield* noteDelay(delayed)
      return delayed.length === 0
    })

    /** Records how many entries there was no room for. */
    const appendMissing = Effect.gen(function* () {
      const millis = yield* Clock.currentTimeMillis
      const missing = pending.takeMissing().map(([log, entries]) => [missingEntry(log, entries, millis)])
      return yield* appendBatches(missing, null)
    })

    /**
     * Writes in order what is pending when it begins, after any flush that is already running: what arrives later is left to the
     * next, so that a flush ends while others write. One that `isLast` holds nothing.
     */
    const flushed = (isLast: boolean): Effect.Effect<"done" | "held" | "delayed"> =>
      Effect.suspend(() => {
        const held: Held = new Map()
        let left = pending.size()
        const appendSome = Effect.suspend(() => {
          const batches = pending.take(isShared, left)
          // The end of the server may have taken the rest.
          left = batches.length === 0 ? 0 : batches.reduce((rest, batch) => rest - batch.length, left)
          return appendBatches(batches, isLast ? null : held)
        })
        return appendSome.pipe(
          Effect.repeat({ while: (isDone) => isDone && left > 0 }),
          Effect.flatMap((isDone) => (isDone ? appendMissing : Effect.succeed(false))),
          Effect.map((isDone) => {
            pending.putBack([...held.values()].flat())
            return isDone ? (held.size > 0 ? "held" : "done") : "delayed"
          })
        )
      }).pipe(flushing.withPermits(1), Effect.uninterruptible)
    const flush = Effect.asVoid(flushed(true))

    // `flush` takes and writes uninterruptibly, so entries that an interrupt leaves pending go to the last flush.
    const worker = hasPending.await.pipe(
      Effect.zipRight(hasPending.close),
      Effect.zipRight(Effect.sleep(batchWindow)),
      Effect.zipRight(flushed(false)),
      Effect.tap((outcome) => (outcome === "delayed" ? Effect.sleep(retryWindow) : Effect.void)),
      Effect.flatMap((outcome) => (outcome === "done" ? Effect.void : hasPending.open))
    )
    const lastFlush = flushed(true).pipe(
      Effect.repeat({
        until: (outcome) => outcome === "done" && pending.isEmpty(),
        schedule: Schedule.spaced(retryWindow),
        times: lastTries
      }),
      Effect.zipRight(
        Effect.suspend(() => {
          const { groups, missing } = pending.takeAll()
          const lost = countEntries(groups) + missing
          return lost === 0 ? Effect.void : appends.reportLost(groups, Cause.die("the server ends"), lost)
        })
      )
    )
    yield* Effect.addFinalizer(() => lastFlush)
    yield* Effect.forkScoped(Effect.forever(worker))

    return {
      change,
      seen,
      refused,
      flush,
      /**
       * Fails with NotReady while a log cannot be appended to; logs whose last append failed are probed. After a break was
       * found, or a log that was removed, fails until the server is restarted.
       */
      ready: Effect.zipRight(
        watch,
        Effect.suspend(() =>
          broken.size > 0
            ? new NotReady({ message: "another program changed an audit log: the server's log names it" })
            : Effect.forEach([...failing], retry, { discard: true })
        )
      ),
      /** How many groups of entries are pending. */
      queued: Effect.sync(pending.size)
    } as const
  }),
  dependencies: [AuditIndex.Default]
}) {}
