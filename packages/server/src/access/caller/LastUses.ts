import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { RequestInfo } from "../../base/RequestInfo.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { timestamp } from "../../base/Time.js"
import { Database, type Transaction } from "../../database/Database.js"
import type { AccountActorRow, DelegationActorRow, SessionActorRow } from "./ActorRepo.js"
import { authRepo } from "./credentials/Repo.js"

const everyMillis = 60_000
/** How many last uses one transaction records. */
const atOnce = 100

/**
 * Records the last uses of credentials in the background, at most once a minute each. A row that another transaction has locked is
 * left out: its next use is recorded.
 */
export const makeLastUses = Effect.gen(function* () {
  const repo = yield* authRepo
  const { transaction } = yield* Database
  const uses = yield* Queue.dropping<Effect.Effect<void, never, Transaction>>(sharedBounds.lastUses.total)
  // Together: each transaction waits for the disk.
  yield* Queue.takeBetween(uses, 1, atOnce).pipe(
    Effect.flatMap((some) =>
      Effect.catchAllCause(transaction(Effect.all(some, { discard: true })), (cause) =>
        Effect.logWarning("the last use of a credential was not recorded", cause)
      )
    ),
    Effect.forever,
    Effect.forkScoped
  )

  const isRecorded = (lastUsedAt: string | null, millis: number): boolean =>
    lastUsedAt !== null && lastUsedAt >= timestamp(millis - everyMillis)

  return {
    ofSession: (
      { last_used_at, session_id, user_id }: SessionActorRow,
      millis: number,
      request: Context.Context<never>
    ): void => {
      if (isRecorded(last_used_at, millis)) return
      const now = timestamp(millis)
      const { ip } = Context.get(request, RequestInfo)
      uses.unsafeOffer(
        Effect.zipRight(repo.touchSession({ id: session_id, now, ip }), repo.touchUser({ id: user_id, now }))
      )
    },

    ofDelegation: ({ delegation_id, last_used_at, user_id }: DelegationActorRow, millis: number): void => {
      if (isRecorded(last_used_at, millis)) return
      const now = timestamp(millis)
      uses.unsafeOffer(
        Effect.zipRight(repo.touchDelegation({ id: delegation_id, now }), repo.touchUser({ id: user_id, now }))
      )
    },

    ofAccount: ({ account_id, last_used_at }: AccountActorRow, millis: number): void => {
      if (!isRecorded(last_used_at, millis)) {
        uses.unsafeOffer(repo.touchAccount({ id: account_id, now: timestamp(millis) }))
      }
    }
  } as const
})
