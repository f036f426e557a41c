import { Effect } from "effect"
import { now } from "../../base/Time.js"
import { DeliveriesRepo } from "./DeliveriesRepo.js"
import { WebhooksRepo } from "./Repo.js"

/**
 * Skips all events of a restored database: the server that it was backed up from has sent them since. Call in
 * the transaction that makes the copy the live database.
 */
export const skipEvents = Effect.gen(function* () {
  const webhooks = yield* WebhooksRepo
  const deliveries = yield* DeliveriesRepo
  yield* deliveries.skipAll({ now: yield* now })
  yield* webhooks.skipEventsOfAll({})
})
