import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { Tenant } from "../base/Tenant.js"
import { afterCommit, Database, type Transaction } from "../database/Database.js"
import { indexRepo } from "./IndexRepo.js"

/** How long entries wait for others before they are added to the index. */
const window = "1 second"

/**
 * The search index of the audit log, with its totals. It is derived from the entries and follows them: an append writes nothing of
 * it, so that others do not wait for the index of a change. A search first adds the entries that the index lacks.
 */
export class AuditIndex extends Effect.Service<AuditIndex>()("@coffer/server/AuditIndex", {
  effect: Effect.gen(function* () {
    const repo = yield* indexRepo
    const { transaction } = yield* Database
    /** One batch at a time; the tenants in turn. */
    const turns = makeFairSemaphore({ permits: 1 })
    /** Logs that this process appended to. */
    const noted = new Set<string>()
    const hasNoted = yield* Effect.makeLatch()
    let isFailing = false

    const note = (log: string): void => {
      noted.add(log)
      hasNoted.unsafeOpen()
    }

    /** Adds a batch of a log. Returns whether the index has reached a number, or cannot, because entries were removed. */
    const step = Effect.fnUntraced(function* (log: string, target: number) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= Math.min(target, head)) return true
      const batch = yield* repo.read(log, indexed, head)
      if (batch.to === indexed) return true
      yield* transaction(repo.post(log, batch))
      return false
    })

    /** Adds the entries that a log has now. */
    const catchUp = Effect.fnUntraced(function* (log: string) {
      const { head = 0, indexed = 0 } = (yield* repo.state({ log })) ?? {}
      if (indexed >= head) return
      yield* Effect.repeat(turns.inside(step(log, head)), { until: identity<boolean> })
    })

    /** Adds the entries of some logs on their tenants' behalf. Logs whose turn fails are noted again. */
    const catchUpEach = (logs: Iterable<string>) =>
      Effect.forEach(
        logs,
        (log) =>
          catchUp(log).pipe(
            Effect.provideService(Tenant, { name: log }),
            Effect.onError(() =>
              Effect.sync(() => {
                note(log)
              })
            )
          ),
        { discard: true }
      )

    const takeNoted = Effect.sync(() => {
      const logs = [...noted]
      noted.clear()
      return logs
    })

    const behind = Effect.map(repo.behind({}), (rows) => rows.map(({ log }) => log))

    /** Logs the first failure, and the end of all. */
    const report = (cause: Cause.Cause<never> | null) => {
      const [before, now] = [isFailing, cause !== null]
      isFailing = now
      if (before === now) return Effect.void
      return cause === null
        ? Effect.logInfo("the search index of the audit log is up to date again")
        : Effect.logWarning("the search index of the audit log is behind, and is tried again each second", cause)
    }

    const round = Effect.flatMap(takeNoted, catchUpEach).pipe(
      Effect.matchCauseEffect({ onFailure: report, onSuccess: () => report(null) })
    )

    /** Follows what this process appends, and what an earlier one did not add before it ended. */
    const follow = behind.pipe(
      Effect.map((logs) => {
        logs.forEach(note)
      }),
      Effect.zipRight(
        hasNoted.await.pipe(
          Effect.zipRight(Effect.sleep(window)),
          Effect.zipRight(hasNoted.close),
          Effect.zipRight(round),
          Effect.forever
        )
      )
    )

    return {
      catchUp,

      /** Adds the entries that all logs have now. */
      catchUpAll: Effect.flatMap(behind, catchUpEach),

      /** The number of a log's last entry in the index. */
      reached: (log: string) => Effect.map(repo.state({ log }), (state) => state?.indexed ?? 0),

      /** Notes a log that the open transaction appends to. */
      noteAppend: (log: string): Effect.Effect<void, never, Transaction> =>
        afterCommit(
          Effect.sync(() => {
            note(log)
          })
        ),

      follow
    } as const
  })
}) {}
