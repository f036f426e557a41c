import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { EntryReader } from "../../audit/EntryReader.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { deliveriesRepo } from "./DeliveriesRepo.js"
import type { Step } from "./FanOut.js"
import { Notices } from "./Notices.js"
import { makeDeliveryWorkers } from "./DeliveryWorkers.js"
import { SigningKeys } from "./SigningKeys.js"
import { oldestPending } from "./WebhookMetrics.js"

const pollEvery = Duration.millis(500)
const retryEvery = Duration.seconds(5)

const report = (what: string) => (cause: Cause.Cause<unknown>) =>
  isLeaseLost(cause) ? Effect.void : Effect.logError(what, cause)

const pauseAfter = (steps: ReadonlyArray<Step>): Duration.Duration =>
  steps.includes("failed") ? retryEvery : steps.includes("more") ? Duration.zero : pollEvery

/**
 * Makes deliveries from the committed entries of the audit logs, and sends those whose time has come. Each webhook has fibers
 * of its own while it has such deliveries, so that a slow receiver holds back nobody else's.
 */
const deliver = Effect.gen(function* () {
  const repo = yield* deliveriesRepo
  const { fanOut, workers } = yield* makeDeliveryWorkers
  const running = yield* FiberMap.make<string>()
  // Another server may go on, which knows how old its events are.
  yield* Effect.addFinalizer(() => Metric.set(oldestPending, 0))

  const round = Effect.gen(function* () {
    const steps = yield* fanOut
    const { oldest } = yield* repo.oldest({})
    yield* Metric.set(oldestPending, oldest === null ? 0 : Date.parse(oldest))
    for (const { name, run } of yield* workers) {
      const working = Effect.catchAllCause(run, report("deliveries of a webhook failed"))
      yield* FiberMap.run(running, name, working, { onlyIfMissing: true })
    }
    return pauseAfter(steps)
  }).pipe(
    Effect.catchAllCause((cause) => Effect.as(report("the job of webhooks failed")(cause), retryEvery)),
    Effect.withTracerEnabled(false)
  )

  yield* round.pipe(Effect.flatMap(Effect.sleep), Effect.forever, Effect.interruptible, Effect.forkScoped)
})

/** Services that the deliveries need besides the database, the keyring, the audit log and the mailer. */
export const DeliveriesLive = Layer.mergeAll(
  EntryReader.Default,
  SigningKeys.Default,
  Notices.Default,
  Outbound.Default
)

/** The deliveries of webhooks, on one server of the database at a time. */
export const WebhooksJob = onOneServer(
  { name: "webhooks", lease: "30 seconds" },
  Layer.scopedDiscard(deliver).pipe(Layer.provide(DeliveriesLive)),
  Effect.void
)
