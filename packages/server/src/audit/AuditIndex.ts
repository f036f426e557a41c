import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { Tenant } from "../base/Tenant.js"
import { afterCommit, Database, type Transaction } from "../database/Database.js"
import { indexRepo } from "./IndexRepo.js"

/** How long entries wait for others before they are added to the index, unless there are enough for a batch. */
const window = "5 seconds"
/** How many entries one transaction adds: adjacent ones share the pages of the index. */
const entriesAtOnce = 2_000
/** The same while others wait. */
const entriesInBetween = 200
const progressEvery = 100_000

const logsOf = (rows: ReadonlyArray<{ readonly log: string }>) => rows.map(({ log }) => log)

/**
 * The search index of the audit log, with its totals. It is derived from the entries and follows them: an append writes nothing of
 * it, so that others do not wait for the index of a change. A search first adds the entries that the index lacks.
 */
export class AuditIndex extends Effect.Service<AuditIndex>()("@coffer/server/AuditIndex", {
  effect: Effect.gen(function* () {
    const repo = yield* indexRepo
    const { isAwaited, transaction } = yield* Database
    /** One batch at a time; the tenants in turn. */
    const turns = makeFairSemaphore(sharedBounds.indexBatches)
    /** Logs that this process appended to. */
    const noted = new Set<string>()
    const hasNoted = yield* Effect.makeLatch()
    /** How many entries were noted since the follower last began. */
    let entries = 0
    const hasBatch = yield* Effect.makeLatch()
    let isFailing = false

    const note = (log: string, more: number): void => {
      noted.add(log)
      entries += more
      hasNoted.unsafeOpen()
      if (entries >= entriesAtOnce) hasBatch.unsafeOpen()
    }

    /** Adds a batch of a log. Returns how many entries it has; 0 if the index has reached a number, or cannot: entries were removed. */
    const step = Effect.fnUntraced(function* (log: string, target: number) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= Math.min(target, head)) return 0
      const batch = yield* repo.read(
        log,
        indexed,
        head,
        isAwaited() || turns.isAwaited() ? entriesInBetween : entriesAtOnce
      )
      if (batch.to > indexed) yield* transaction(repo.post(log, batch))
      return batch.to - indexed
    })

    /** Adds the entries that a log has now: its servers may append more all the time. */
    const catchUp = Effect.fnUntraced(function* (
      log: string,
      onAdded: (entries: number) => Effect.Effect<void> = () => Effect.void
    ) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= head) return
      yield* turns.inside(step(log, head)).pipe(Effect.tap(onAdded), Effect.repeat({ until: (added) => added === 0 }))
    })

    /** Adds the entries of some logs on their tenants' behalf. A log whose turn fails is noted again, and those after it stay noted. */
    const catchUpEach = (logs: Iterable<string>, onAdded?: (entries: number) => Effect.Effect<void>) =>
      Effect.forEach(
        logs,
        (log) =>
          Effect.suspend(() => {
            noted.delete(log)
            return catchUp(log, onAdded)
          }).pipe(
            Effect.provideService(Tenant, { name: log }),
            Effect.onError(() =>
              Effect.sync(() => {
                note(log, 0)
              })
            )
          ),
        { discard: true }
      )

    /** Logs the first failure, and the end of all. */
    const report = (cause: Cause.Cause<never> | null) => {
      const [before, now] = [isFailing, cause !== null]
      isFailing = now
      if (before === now) return Effect.void
      return cause === null
        ? Effect.logInfo("the search index of the audit log is up to date again")
        : Effect.logWarning("the search index of the audit log is behind, and is tried again every 5 seconds", cause)
    }

    const reported = Effect.matchCauseEffect({ onFailure: report, onSuccess: () => report(null) })

    /**
     * Adds what an earlier server did not add before it ended, and all entries after a migration emptied the index. Runs before the
     * server serves: no search waits for them. Each batch is kept, so the next start continues where this one is killed.
     */
    const begin = Effect.gen(function* () {
      const behind = yield* repo.behind({})
      const total = behind.reduce((sum, { entries }) => sum + entries, 0)
      let done = 0
      for (const log of logsOf(behind)) note(log, 0)
      yield* catchUpEach(logsOf(behind), (added) => {
        done += added
        const isDue = done % progressEvery < added
        return isDue ? Effect.logInfo(`indexing the audit log: ${done} of ${total} entries`) : Effect.void
      })
    }).pipe(reported)

    /** Follows what this process appends. */
    const follow = hasNoted.await.pipe(
      Effect.zipRight(Effect.timeoutOption(hasBatch.await, window)),
      Effect.zipRight(Effect.zipRight(hasNoted.close, hasBatch.close)),
      Effect.zipRight(
        Effect.suspend(() => {
          entries = 0
          return catchUpEach([...noted])
        })
      ),
      reported,
      Effect.forever
    )

    return {
      catchUp,

      /** Adds the entries that all logs have now. */
      catchUpAll: Effect.flatMap(repo.behind({}), (behind) => catchUpEach(logsOf(behind))),

      /** The number of a log's last entry in the index. */
      reached: (log: string) => Effect.map(repo.state({ log }), (state) => state?.indexed ?? 0),

      /** Notes that the open transaction appends entries to a log. */
      noteAppend: (log: string, entries: number): Effect.Effect<void, never, Transaction> =>
        afterCommit(
          Effect.sync(() => {
            note(log, entries)
          })
        ),

      begin,
      follow
    } as const
  })
}) {}
