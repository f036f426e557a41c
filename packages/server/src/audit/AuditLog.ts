import { NotReady } from "@coffer/domain/Errors"
import { Array, Cause, Data, Effect, Either, Metric, Option, Queue } from "effect"
import { ServerConfig } from "../Config.js"
import { afterwards, Database, Transaction } from "../database/Database.js"
import { isDiskFull } from "../database/Reason.js"
import { Instance } from "../keys/Instance.js"
import { nextTick } from "../EventLoop.js"
import { appending, type Break, systemLog } from "./Append.js"
import { AuditRepo } from "./Repo.js"
import {
  type AuditEvent,
  type AuditSource,
  charactersOf,
  entriesOf,
  inBatches,
  joined,
  logOf,
  tellOf,
  type Told
} from "./Told.js"

/** Entries that could not be appended. */
interface Lost {
  readonly told: Told
  readonly cause: Cause.Cause<unknown>
}

/** Rolls a transaction back in which no entry could be appended. */
class NothingAppended extends Data.TaggedError("NothingAppended")<{ readonly reason: Cause.Cause<unknown> }> {}

/** Rolls an entry back that was only tried. */
class TakenBack extends Data.TaggedError("TakenBack") {}

const probe: AuditSource = { actor: { type: "system", id: null, name: "readiness" }, orgId: null }

const queueCapacity = 10_000
/** How many characters of metadata may wait: one entry can hold 250,000. */
const queueCharacters = 16 * 1024 * 1024
const batchSize = 200
/** How many entries of one change are appended in one turn of the event loop. */
const entriesAtOnce = 20
const batchWindow = "25 millis"

export const auditFailures = Metric.counter("coffer_audit_failures_total", { incremental: true })

/**
 * The audit trail. `write` belongs in the transaction of the change that it tells of, and its entry is committed with that;
 * `read` queues an entry about a read, which is committed with others at most 50 ms later. Where the operator requires the
 * audit (`SERVICE_AUDIT_REQUIRED`), a read waits for its entry, and a read or change whose entry cannot be written fails.
 *
 * A failure reaches no further than it must: each log is appended to in a savepoint of its own. Where that fails, the entries
 * of each change are appended in a savepoint of their own, so that one bad entry does not lose those of other changes.
 */
export class AuditLog extends Effect.Service<AuditLog>()("@coffer/server/AuditLog", {
  scoped: Effect.gen(function* () {
    const { beforeCommit, transaction } = yield* Database
    const repo = yield* AuditRepo
    const { auditKey } = yield* Instance
    const { auditRequired } = yield* ServerConfig
    const queue = yield* Queue.bounded<Told>(queueCapacity)
    const waiting = yield* Effect.makeLatch()
    const flushing = yield* Effect.makeSemaphore(1)
    const append = appending(repo, auditKey)
    /** The logs whose last append failed. */
    const failing = new Set<string>()
    /** The logs that did not end where their heads said, as far as this process has seen. */
    const broken = new Set<string>()

    const reportBreak = ({ head, last, log, seq }: Break) => {
      broken.add(log)
      return Effect.logError(
        `the audit log of ${log} does not end where its head says (head ${head?.seq ?? "none"}, last entry ${last?.seq ?? "none"}): ` +
          `entry ${seq} records that; keep a copy of the database file, and verify the log`
      )
    }

    /** Appends to one log, as a part of the open transaction: all or nothing. */
    const appendTogether = (log: string, { drafts, millis }: Told) =>
      transaction(append(log, drafts, millis)).pipe(
        Effect.flatMap((found) => (found === null ? Effect.void : reportBreak(found))),
        Effect.sandbox,
        Effect.either
      )

    /** Appends to each log alone, inside the open transaction; where that fails, each change's entries alone. */
    const appendEach = Effect.fnUntraced(function* (told: ReadonlyArray<Told>) {
      const lost: Array<Lost> = []
      for (const [log, all] of Object.entries(Array.groupBy(told, logOf))) {
        const together = yield* appendTogether(log, joined(all))
        if (Either.isRight(together)) failing.delete(log)
        else if (all.length === 1) lost.push({ told: all[0], cause: together.left })
        else {
          for (const each of all) {
            const alone = yield* appendTogether(log, each)
            if (Either.isLeft(alone)) lost.push({ told: each, cause: alone.left })
          }
        }
      }
      return lost
    })

    /** Counts and logs entries that could not be written, and remembers their logs for `ready`. */
    const reportLost = (told: ReadonlyArray<Told>, cause: Cause.Cause<unknown>) => {
      for (const each of told) failing.add(logOf(each))
      return Effect.zipRight(
        Metric.incrementBy(auditFailures, entriesOf(told)),
        isDiskFull(Cause.squash(cause))
          ? Effect.logError("audit entries could not be written: the disk with the database is full")
          : Effect.logError("audit entries could not be written", cause)
      )
    }

    const reportEachLost = ([first, ...rest]: ReadonlyArray<Lost>) =>
      first === undefined
        ? Effect.void
        : reportLost(
            [first, ...rest].map(({ told }) => told),
            first.cause
          )

    /** Appends in a transaction of its own. Dies if nothing could be appended; what is lost is logged and counted. */
    const commit = (told: ReadonlyArray<Told>) =>
      transaction(
        Effect.flatMap(appendEach(told), (lost) => {
          const [first] = lost
          return first !== undefined && lost.length === told.length
            ? new NothingAppended({ reason: first.cause })
            : Effect.succeed(lost)
        })
      ).pipe(
        Effect.catchTag("NothingAppended", ({ reason }) => Effect.failCause(Cause.die(Cause.squash(reason)))),
        Effect.tapErrorCause((cause) => reportLost(told, cause)),
        Effect.flatMap(reportEachLost),
        Effect.uninterruptible
      )

    /** As `commit`; fails only where the operator requires the audit. */
    const commitOrGoOn = (told: ReadonlyArray<Told>): Effect.Effect<void> =>
      auditRequired ? commit(told) : Effect.catchAllCause(commit(told), () => Effect.void)

    /** Whether a log takes entries again: one is written and taken back, then a head is written as it was. */
    const attempt = (log: string) =>
      transaction(
        Effect.gen(function* () {
          const { head } = yield* repo.end(log)
          const { drafts, millis } = yield* tellOf(probe, [
            { action: "auth.login", resource_type: "server", resource_id: null }
          ])
          const probing = append(
            log,
            Array.map(drafts, (draft) => ({ ...draft, log, org_id: log === systemLog ? null : log })),
            millis
          )
          yield* transaction(Effect.zipRight(probing, new TakenBack())).pipe(
            Effect.catchTag("TakenBack", () => Effect.void)
          )
          if (head !== null) yield* repo.setHead(head)
        })
      )

    const notWritten = new NotReady({ message: "the audit trail cannot be written" })

    const retry = (log: string) =>
      Effect.sandbox(attempt(log)).pipe(
        Effect.mapError(() => notWritten),
        Effect.tap(() => {
          failing.delete(log)
        })
      )

    /** Appends what the changes of a group tell, once for all of them. */
    const appendAtCommit = beforeCommit<Told>((told) => Effect.flatMap(appendEach(told), reportEachLost))

    /** Leaves entries to the commit; where the audit is required, appends them now, and fails the change with them. */
    const tell = (told: Told): Effect.Effect<void, never, Transaction> =>
      auditRequired
        ? Effect.flatMap(
            appendTogether(logOf(told), told),
            Either.match({
              onLeft: (cause) =>
                Effect.zipRight(afterwards(reportLost([told], cause)), Effect.die(Cause.squash(cause))),
              onRight: () => Effect.void
            })
          )
        : appendAtCommit(told)

    const write = (source: AuditSource, ...events: ReadonlyArray<AuditEvent>): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!Array.isNonEmptyReadonlyArray(events)) return Effect.void
        // Many at once, at the end of the transaction, would hold the event loop.
        if (events.length > entriesAtOnce) {
          return Effect.forEach(
            Array.chunksOf(events, entriesAtOnce),
            (some, index) =>
              Effect.zipRight(
                index === 0 ? Effect.void : nextTick,
                Effect.flatMap(tellOf(source, some), (told) => commitOrGoOn([told]))
              ),
            { discard: true }
          )
        }
        return Effect.zipWith(tellOf(source, events), Effect.serviceOption(Transaction), (told, open) =>
          Option.isNone(open) ? commitOrGoOn([told]) : Effect.provideService(tell(told), Transaction, open.value)
        ).pipe(Effect.flatten)
      })

    /** How many characters of metadata wait in the queue. */
    let queued = 0

    /** False when the queue takes no more. */
    const enqueue = (told: Told): boolean => {
      const more = charactersOf(told)
      if (queued + more > queueCharacters || !queue.unsafeOffer(told)) return false
      queued += more
      waiting.unsafeOpen()
      return true
    }

    const read = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.flatMap(tellOf(source, [event]), (told) =>
        auditRequired || !enqueue(told) ? commitOrGoOn([told]) : Effect.void
      )

    /** As `read`, for a refusal: inside a transaction it is left to the end of that, which a rollback does not undo. */
    const denied = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.flatMap(
        Effect.serviceOption(Transaction),
        Option.match({
          onNone: () => read(source, event),
          onSome: (open) => Effect.provideService(afterwards(read(source, event)), Transaction, open)
        })
      )

    /** Writes all that is queued, in its order; it ends after the batches that were begun before it. */
    const flush = Queue.takeUpTo(queue, batchSize).pipe(
      Effect.map((told) => {
        for (const each of told) queued -= charactersOf(each)
        return [...told]
      }),
      Effect.tap((told) =>
        Effect.forEach(
          inBatches(told),
          (batch, index) =>
            Effect.zipRight(index === 0 ? Effect.void : nextTick, Effect.ignore(Effect.sandbox(commit(batch)))),
          { discard: true }
        )
      ),
      Effect.repeat({ while: (written) => written.length === batchSize }),
      flushing.withPermits(1),
      Effect.uninterruptible,
      Effect.asVoid
    )

    // It takes nothing before it writes it: what is queued when it is interrupted is left to the flush at the end.
    const worker = waiting.await.pipe(
      Effect.zipRight(waiting.close),
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
       * Fails with NotReady while a log cannot be appended to, which is tried again for those that failed last; and from the
       * moment that a log was found broken until the server is started again.
       */
      ready: Effect.suspend(() =>
        broken.size > 0
          ? new NotReady({ message: "an audit log was changed behind the server's back: the server's log names it" })
          : Effect.forEach([...failing], retry, { discard: true })
      ),
      /** How many entries of reads wait to be written. */
      queued: Queue.size(queue)
    } as const
  }),
  dependencies: [AuditRepo.Default]
}) {}
