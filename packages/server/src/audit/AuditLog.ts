import { NotReady } from "@coffer/domain/Errors"
import { Array, Cause, Data, Effect, Either, Option, Queue } from "effect"
import { ServerConfig } from "../base/Config.js"
import { afterwards, Database, Transaction, settled } from "../database/Database.js"
import { nextTick } from "../base/EventLoop.js"
import { systemLog } from "./Append.js"
import {
  type AuditEvent,
  type AuditSource,
  charactersOf,
  entryGroup,
  type EntryGroup,
  inBatches,
  logOf
} from "./AuditEvent.js"
import { groupAppends } from "./GroupAppends.js"
import { AuditRepo } from "./Repo.js"

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

/**
 * The audit trail. Call `write` in the transaction of the change; its entry is committed with it. `read` queues the entry of a
 * read, which is committed with others within 50 ms. With `SERVICE_AUDIT_REQUIRED`, a read waits for its entry, and a read or
 * change fails if its entry cannot be written.
 */
export class AuditLog extends Effect.Service<AuditLog>()("@coffer/server/AuditLog", {
  scoped: Effect.gen(function* () {
    const { beforeCommit, transaction } = yield* Database
    const repo = yield* AuditRepo
    const { auditRequired } = yield* ServerConfig
    const queue = yield* Queue.bounded<EntryGroup>(queueCapacity)
    const hasQueued = yield* Effect.makeLatch()
    const flushing = yield* Effect.makeSemaphore(1)
    const appends = yield* groupAppends
    const { broken, commitIfPossible, failing } = appends

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
      Effect.flatMap(appends.appendGroups(groups), appends.reportEachLost)
    )

    /** Appends now, so that a failure fails the change. */
    const appendNow = (group: EntryGroup): Effect.Effect<void, never, Transaction> =>
      Effect.flatMap(
        appends.appendGroup(logOf(group), group),
        Either.match({
          onLeft: (cause) =>
            Effect.zipRight(afterwards(appends.reportLost([group], cause)), Effect.die(Cause.squash(cause))),
          onRight: () => Effect.void
        })
      )

    /** Appends at the commit. If the audit is required, appends now instead. */
    const appendInTransaction = (group: EntryGroup): Effect.Effect<void, never, Transaction> =>
      auditRequired ? appendNow(group) : appendAtCommit(group)

    /** Writes entries without which the change must not be made, whatever `SERVICE_AUDIT_REQUIRED` says. */
    const require = (
      source: AuditSource,
      events: Array.NonEmptyReadonlyArray<AuditEvent>
    ): Effect.Effect<void, never, Transaction> => Effect.flatMap(entryGroup(source, events), appendNow)

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
              Effect.ignore(Effect.sandbox(appends.commitPatiently(batch)))
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
      require,
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
