import type { WebhookId } from "@coffer/domain/Ids"
import { Effect } from "effect"
import { now } from "../database/Time.js"
import { DeliveriesRepo } from "./DeliveriesRepo.js"
import { makeFanOut } from "./FanOut.js"
import { makeSender } from "./Sender.js"

/** How many deliveries are on their way at the same time, in all and to one webhook. */
const maxAtOnce = 32
const maxOfWebhook = 4

/** The steps of the job: deliveries are made from the logs, and then those are sent whose time has come. */
export const makeSending = Effect.gen(function* () {
  const repo = yield* DeliveriesRepo
  const fanOut = yield* makeFanOut
  const send = yield* makeSender
  const slots = yield* Effect.makeSemaphore(maxAtOnce)

  /** The webhooks that have deliveries whose time has come. */
  const due = Effect.map(
    Effect.flatMap(now, (moment) => repo.dueWebhooks({ now: moment })),
    (rows) => rows.map(({ webhook_id }) => webhook_id)
  )

  /** Sends what is due to a webhook, until nothing is. */
  const drain = (webhookId: WebhookId): Effect.Effect<void> =>
    Effect.gen(function* () {
      const rows = yield* repo.due({ webhookId, now: yield* now, limit: maxOfWebhook })
      if (rows.length === 0) return
      yield* Effect.forEach(rows, (row) => slots.withPermits(1)(send(row)), {
        concurrency: maxOfWebhook,
        discard: true
      })
      yield* drain(webhookId)
    })

  return { fanOut, due, drain } as const
})
