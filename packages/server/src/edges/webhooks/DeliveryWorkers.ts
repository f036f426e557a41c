import type { WebhookDeliveryId, WebhookId } from "@coffer/domain/base/Ids"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Tenant } from "../../base/Tenant.js"
import { now } from "../../base/Time.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"
import { deliveriesRepo } from "./DeliveriesRepo.js"
import { makeFanOut } from "./FanOut.js"
import { makeSender } from "./Sender.js"

const workersOfWebhook = 4

/** How long a delivery waits that could not be sent because of this server. */
const pauseAfterFailure = "5 seconds"

/** Sends deliveries of a webhook until none is due. */
export interface Worker {
  readonly name: string
  readonly run: Effect.Effect<void>
}

/** The steps of the job: deliveries are made from the logs, and then those are sent whose time has come. */
export const makeDeliveryWorkers = Effect.gen(function* () {
  const repo = yield* deliveriesRepo
  const fanOut = yield* makeFanOut
  const send = yield* makeSender
  const slots = makeFairSemaphore(sharedBounds.deliveries)
  /** The deliveries that are being sent. */
  const busy = new Set<WebhookDeliveryId>()

  /** Reloads the delivery once a slot is free: it may have been skipped, or its webhook changed. */
  const sendOne = (id: WebhookDeliveryId) =>
    slots
      .inside(
        Effect.gen(function* () {
          const row = yield* repo.toSend({ id, now: yield* now })
          if (row !== undefined) yield* send(row)
        })
      )
      .pipe(
        Effect.catchAllCause((cause) =>
          Cause.isInterrupted(cause) || isLeaseLost(cause)
            ? Effect.failCause(cause)
            : Effect.zipRight(
                Effect.logError(`the delivery ${id} of a webhook failed`, cause),
                Effect.sleep(pauseAfterFailure)
              )
        )
      )

  /** Sends one delivery of a webhook. Returns whether there was one. */
  const sendNext = (webhookId: WebhookId): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      const rows = yield* repo.due({ webhookId, now: yield* now, limit: workersOfWebhook })
      const next = rows.find(({ id }) => !busy.has(id))
      if (next === undefined) return false
      busy.add(next.id)
      yield* Effect.ensuring(
        sendOne(next.id),
        Effect.sync(() => busy.delete(next.id))
      )
      return true
    })

  /** Several workers share the due deliveries of a webhook, so that a slow answer holds back its environment alone. */
  const work = (webhookId: WebhookId): Effect.Effect<void> =>
    Effect.asVoid(Effect.repeat(sendNext(webhookId), { while: (hasSent) => hasSent }))

  /** The workers of the webhooks that have deliveries whose time has come. */
  const workers = Effect.gen(function* () {
    const rows = yield* repo.dueWebhooks({ now: yield* now })
    return rows.flatMap(({ org_id: name, webhook_id: id }) => {
      const run = Effect.provideService(work(id), Tenant, { name })
      return Array.from({ length: workersOfWebhook }, (_none, index): Worker => ({ name: `${id} ${index}`, run }))
    })
  })

  return { fanOut, workers } as const
})
