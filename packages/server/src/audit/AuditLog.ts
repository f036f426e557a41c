import type { ActorType, AuditAction, ResourceType } from "@coffer/domain/AuditEntry"
import type { OrgId } from "@coffer/domain/Names"
import { SqlClient, type SqlError } from "@effect/sql"
import { Array, Cause, Context, Data, Effect, Either, type Fiber, Metric, Option, Queue, Runtime } from "effect"
import { ServerConfig } from "../Config.js"
import { failure } from "../database/Transactions.js"
import { isDiskFull } from "../database/Reason.js"
import { millisIn, timestamp } from "../database/Time.js"
import { uuidV7At } from "../database/Uuid.js"
import { RequestInfo } from "../http/RequestInfo.js"
import { Instance } from "../keys/Instance.js"
import { turn } from "../Turn.js"
import { type Draft, genesis, type Head, headMac, link } from "./Chain.js"
import { AuditRepo, type LinkedEntry } from "./Repo.js"

/** What happened, as a feature tells it. Metadata holds names, numbers and keys; never a value, token or code. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly resource_type: ResourceType
  readonly resource_id: string | null
  readonly metadata?: Record<string, unknown>
}

/** Who did it, and in which organization's log it belongs; `via` is a superadmin's right, where it alone allowed it. */
export interface AuditSource {
  readonly actor: { readonly type: ActorType; readonly id: string | null; readonly name: string }
  readonly orgId: OrgId | null
  readonly via?: string
}

/** Rolls an entry back that was only tried. */
class TakenBack extends Data.TaggedError("TakenBack") {}

const probe: AuditSource = { actor: { type: "system", id: null, name: "readiness" }, orgId: null }

/** What happened, the right that alone allowed it, and the program that asked. */
const metadataOf = ({ via }: AuditSource, { metadata = {} }: AuditEvent, client: string | null) =>
  via !== "superadmin" && client === null
    ? metadata
    : { ...metadata, ...(via === "superadmin" && { via }), ...(client !== null && { client }) }

/** The log of what belongs to no organization. */
export const systemLog = "system"

const queueCapacity = 10_000
/** How many entries are appended before other work gets its turn. */
const batchSize = 200
const batchWindow = "25 millis"

export const auditFailures = Metric.counter("coffer_audit_failures_total", { incremental: true })

/**
 * The audit trail. `write` belongs in the transaction of the change that it tells of, and its entry is committed with that;
 * `read` queues an entry about a read, which is committed with others at most 50 ms later; where the operator requires it
 * (`SERVICE_AUDIT_REQUIRED`), the read waits for its entry and fails without it.
 */
export class AuditLog extends Effect.Service<AuditLog>()("@coffer/server/AuditLog", {
  scoped: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const repo = yield* AuditRepo
    const { auditKey } = yield* Instance
    const { auditRequired } = yield* ServerConfig
    const queue = yield* Queue.bounded<Draft>(queueCapacity)
    const waiting = yield* Effect.makeLatch()
    const flushing = yield* Effect.makeSemaphore(1)
    const runtime = yield* Effect.runtime()
    let failing = false

    /** What is to be written of an event, as the request that runs in a fiber tells it. All at once: each read has one. */
    const draftIn = (fiber: Fiber.RuntimeFiber<unknown, unknown>, source: AuditSource, event: AuditEvent): Draft => {
      const { client, ip } = Context.get(fiber.currentContext, RequestInfo)
      return {
        id: uuidV7At(millisIn(fiber)),
        log: source.orgId ?? systemLog,
        org_id: source.orgId,
        actor_type: source.actor.type,
        actor_id: source.actor.id,
        actor_name: source.actor.name,
        action: event.action,
        resource_type: event.resource_type,
        resource_id: event.resource_id,
        ip_address: ip,
        metadata: JSON.stringify(metadataOf(source, event, client))
      }
    }

    /** Appends to one log: the entries take the next numbers, each is linked to the one before, the head moves. */
    const appendAfter = (head: Head | undefined, drafts: Array.NonEmptyReadonlyArray<Draft>, current: string): void => {
      const [{ log }] = drafts
      const created_at = head === undefined || head.created_at < current ? current : head.created_at
      let seq = head?.seq ?? 0
      let chain = head?.chain ?? genesis
      const entries = drafts.map((entry): LinkedEntry => {
        const stamp = { seq: ++seq, created_at }
        chain = link(auditKey, chain, entry, stamp)
        return { entry, stamp, chain }
      })
      repo.insert(entries)
      const kinds = Array.groupBy(drafts, (entry) => `${entry.actor_id} ${entry.action} ${entry.resource_type}`)
      for (const [first, ...rest] of Object.values(kinds)) repo.count(first, 1 + rest.length)
      const moved = { log, seq, chain, created_at }
      repo.setHead({ ...moved, mac: headMac(auditKey, moved) })
    }

    /** Inside the open transaction: all or nothing. */
    const appendNow = (drafts: ReadonlyArray<Draft>, millis: number) =>
      repo.savepoint(() => {
        for (const entries of Object.values(Array.groupBy(drafts, ({ log }) => log))) {
          appendAfter(repo.head(entries[0].log), entries, timestamp(millis))
        }
      })

    const failed = (entries: number, cause: Cause.Cause<unknown>) => {
      failing = true
      return Effect.zipRight(
        Metric.incrementBy(auditFailures, entries),
        isDiskFull(Cause.squash(cause))
          ? Effect.logError("audit entries could not be written: the disk with the database is full")
          : Effect.logError("audit entries could not be written", cause)
      )
    }

    /** All or nothing, as a transaction. A failure is logged and counted. */
    const appendAll = (drafts: ReadonlyArray<Draft>) =>
      sql
        .withTransaction(
          Effect.withFiberRuntime<void, SqlError.SqlError>((fiber) =>
            Effect.forEach(
              Array.chunksOf(drafts, batchSize),
              (some, index) => Effect.zipRight(index === 0 ? Effect.void : turn, appendNow(some, millisIn(fiber))),
              { discard: true }
            )
          )
        )
        .pipe(
          Effect.tap(() => {
            failing = false
          }),
          Effect.tapErrorCause((cause) => failed(drafts.length, cause)),
          Effect.uninterruptible
        )

    /** As `appendAll`; a failure of the audit alone never fails what it tells of. */
    const append = (drafts: ReadonlyArray<Draft>) => Effect.catchAllCause(appendAll(drafts), () => Effect.void)

    const probing = Effect.withFiberRuntime<void, SqlError.SqlError>((fiber) => {
      const event = { action: "auth.login", resource_type: "server", resource_id: null } as const
      return appendNow([draftIn(fiber, probe, event)], millisIn(fiber))
    })

    /** Whether the tables take entries again: one is written and taken back, then a head is written as it was. */
    const attempt = sql.withTransaction(
      Effect.gen(function* () {
        const head = yield* Effect.try({ try: () => repo.head(systemLog), catch: failure })
        yield* sql
          .withTransaction(Effect.zipRight(probing, new TakenBack()))
          .pipe(Effect.catchTag("TakenBack", () => Effect.void))
        if (head !== undefined) yield* Effect.try({ try: () => repo.setHead(head), catch: failure })
      })
    )

    /** Appends what the changes of a batch tell, once for all of them. */
    const tellAtCommit = repo.atCommit<{ readonly draft: Draft; readonly millis: number }>((told) => {
      const drafts = told.map(({ draft }) => draft)
      const latest = told.reduce((last, { millis }) => Math.max(last, millis), 0)
      const done = appendNow(drafts, latest)
      if (Either.isLeft(done)) Runtime.runFork(runtime)(failed(drafts.length, Cause.fail(done.left)))
    })

    const writeIn = (fiber: Fiber.RuntimeFiber<unknown, unknown>, source: AuditSource, event: AuditEvent): void => {
      tellAtCommit({ draft: draftIn(fiber, source, event), millis: millisIn(fiber) })
    }

    const write = (source: AuditSource, ...events: ReadonlyArray<AuditEvent>): Effect.Effect<void> =>
      Effect.withFiberRuntime((fiber) => {
        // Many at the end of the transaction, at once, would hold everybody up.
        if (
          events.length > batchSize ||
          Option.isNone(Context.getOption(fiber.currentContext, SqlClient.TransactionConnection))
        ) {
          return append(events.map((event) => draftIn(fiber, source, event)))
        }
        for (const event of events) writeIn(fiber, source, event)
        return Effect.void
      })

    const read = (source: AuditSource, event: AuditEvent): Effect.Effect<void> =>
      Effect.withFiberRuntime((fiber) => {
        const entry = draftIn(fiber, source, event)
        if (auditRequired) return Effect.orDie(appendAll([entry]))
        if (!queue.unsafeOffer(entry)) return append([entry])
        waiting.unsafeOpen()
        return Effect.void
      })

    /** Writes all that is queued, in its order; it ends after the batches that were begun before it. */
    const flush = Queue.takeUpTo(queue, batchSize).pipe(
      Effect.map((entries) => [...entries]),
      Effect.tap((entries) => (entries.length === 0 ? Effect.void : append(entries))),
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
      /** As `write`, at once, in a change of one step. */
      writeIn,
      read,
      flush,
      /** Whether entries can be written: while the last ones could, that is not tried. */
      working: Effect.suspend(() =>
        failing
          ? Effect.match(Effect.sandbox(attempt), {
              onSuccess: () => {
                failing = false
                return true
              },
              onFailure: () => false
            })
          : Effect.succeed(true)
      ),
      /** How many entries of reads wait to be written. */
      queued: Queue.size(queue)
    } as const
  }),
  dependencies: [AuditRepo.Default]
}) {}
