import * as Effect from "effect/Effect"
import { now } from "../../base/Time.js"
import { deliveriesRepo } from "./DeliveriesRepo.js"
import { webhooksRepo } from "./Repo.js"

/**
 * Skips all events of a restored database: the server that it was backed up from has sent them since. Call in
 * the transaction that makes the copy the live database.
 */
export const skipEvents = Effect.gen(function* () {
  const webhooks = yield* webhooksRepo
  const deliveries = yield* deliveriesRepo
  yield* deliveries.skipAll({ now: yield* now })
  yield* webhooks.skipEventsOfAll({})
})
