import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { Tenant } from "../base/Tenant.js"
import { afterCommit, Database, type Transaction } from "../database/Database.js"
import { indexRepo } from "./IndexRepo.js"

/** How long entries wait for others before they are added to the index. */
const window = "1 second"
/** How many entries one transaction adds while others wait for the writer, and at the start. */
const entriesAtOnce = 200
const entriesAtStart = 2_000
const progressEvery = 100_000

const logsOf = (rows: ReadonlyArray<{ readonly log: string }>) => rows.map(({ log }) => log)

/**
 * The search index of the audit log, with its totals. It is derived from the entries and follows them: an append writes nothing of
 * it, so that others do not wait for the index of a change. A search first adds the entries that the index lacks.
 */
export class AuditIndex extends Effect.Service<AuditIndex>()("@coffer/server/AuditIndex", {
  effect: Effect.gen(function* () {
    const repo = yield* indexRepo
    const { transaction } = yield* Database
    /** One batch at a time; the tenants in turn. */
    const turns = makeFairSemaphore(sharedBounds.indexBatches)
    /** Logs that this process appended to. */
    const noted = new Set<string>()
    const hasNoted = yield* Effect.makeLatch()
    let isFailing = false

    const note = (log: string): void => {
      noted.add(log)
      hasNoted.unsafeOpen()
    }

    /** Adds a batch of a log. Returns how many entries it has; 0 if the index has reached a number, or cannot: entries were removed. */
    const step = Effect.fnUntraced(function* (log: string, target: number, maxEntries: number) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= Math.min(target, head)) return 0
      const batch = yield* repo.read(log, indexed, head, maxEntries)
      if (batch.to > indexed) yield* transaction(repo.post(log, batch))
      return batch.to - indexed
    })

    /** Adds the entries that a log has now. */
    const catchUp = Effect.fnUntraced(function* (log: string) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= head) return
      yield* Effect.repeat(turns.inside(step(log, head, entriesAtOnce)), { until: (added) => added === 0 })
    })

    /** Adds the entries of some logs on their tenants' behalf. A log whose turn fails is noted again, and those after it stay noted. */
    const catchUpEach = (logs: Iterable<string>, catchUpOne = catchUp) =>
      Effect.forEach(
        logs,
        (log) =>
          Effect.suspend(() => {
            noted.delete(log)
            return catchUpOne(log)
          }).pipe(
            Effect.provideService(Tenant, { name: log }),
            Effect.onError(() =>
              Effect.sync(() => {
                note(log)
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
        : Effect.logWarning("the search index of the audit log is behind, and is tried again each second", cause)
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
      logsOf(behind).forEach(note)
      const addAll = (log: string) =>
        step(log, Number.MAX_SAFE_INTEGER, entriesAtStart).pipe(
          Effect.tap((added) => {
            done += added
            const isDue = done % progressEvery < added
            return isDue ? Effect.logInfo(`indexing the audit log: ${done} of ${total} entries`) : Effect.void
          }),
          Effect.repeat({ until: (added) => added === 0 })
        )
      yield* catchUpEach(logsOf(behind), addAll)
    }).pipe(reported)

    /** Follows what this process appends. */
    const follow = hasNoted.await.pipe(
      Effect.zipRight(Effect.sleep(window)),
      Effect.zipRight(hasNoted.close),
      Effect.zipRight(Effect.suspend(() => catchUpEach([...noted]))),
      reported,
      Effect.forever
    )

    return {
      catchUp,

      /** Adds the entries that all logs have now. */
      catchUpAll: Effect.flatMap(repo.behind({}), (behind) => catchUpEach(logsOf(behind))),

      /** The number of a log's last entry in the index. */
      reached: (log: string) => Effect.map(repo.state({ log }), (state) => state?.indexed ?? 0),

      /** Notes a log that the open transaction appends to. */
      noteAppend: (log: string): Effect.Effect<void, never, Transaction> =>
        afterCommit(
          Effect.sync(() => {
            note(log)
          })
        ),

      begin,
      follow
    } as const
  })
}) {}
