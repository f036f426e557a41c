import type { WebhookDelivery, WebhookWithKey } from "@coffer/domain/server/Webhook"
import { Access } from "@coffer/server/access/Access"
import { unfenced } from "@coffer/server/database/jobs/Lease"
import { type Notice, Mailer } from "@coffer/server/base/mail/Mailer"
import { Deliveries } from "@coffer/server/edges/webhooks/Deliveries"
import { DeliveriesLive } from "@coffer/server/edges/webhooks/Job"
import { makeDeliveryWorkers } from "@coffer/server/edges/webhooks/DeliveryWorkers"
import { type ChangedWebhook, type NewWebhook, Webhooks } from "@coffer/server/edges/webhooks/Webhooks"
import { Context, Effect, Layer, Redacted, TestClock } from "effect"
import { asActor, onDatabase, organization, orgPath, person, transaction } from "../support/Services.js"
import { Receiver } from "./Receiver.js"

/** The time at which tests begin. */
export const start = Date.UTC(2026, 0, 31, 12)

export class Hook extends Context.Tag("@coffer/server/World/Hook")<Hook, Receiver>() {}

/** The notices that were mailed. */
export class Mails extends Context.Tag("@coffer/server/World/Mails")<Mails, Array<Notice>>() {}

const MailsLive = Layer.effect(
  Mailer,
  Effect.map(Mails, (mails) =>
    Mailer.make({
      sendLoginCode: () => Effect.void,
      sendInvitation: () => Effect.void,
      sendNotice: (notice) => Effect.sync(() => void mails.push(notice))
    })
  )
)

const receiver = Effect.acquireRelease(
  Effect.promise(() => Receiver.start()),
  (started) => Effect.promise(() => started.stop())
)

/** Runs a test with a receiver of its own on a database of its own, which has an organization. */
export const withReceiver = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(receiver, (hook) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      yield* organization()
      return yield* test
    }).pipe(
      Effect.provide(
        Layer.mergeAll(Webhooks.Default, Deliveries.Default).pipe(
          Layer.provideMerge(Layer.provideMerge(Layer.mergeAll(DeliveriesLive, unfenced), MailsLive))
        )
      ),
      Effect.provideService(Mails, []),
      Effect.provideService(Hook, hook),
      onDatabase({ SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8" })
    )
  ).pipe(Effect.scoped)

const as = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(person("ada@example.com"), (ada) => effect.pipe(asActor(ada)))

/** Makes a webhook to the receiver, as ada, who owns the organization. */
export const hooked = (wish: Partial<NewWebhook> = {}) =>
  as(
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const place = yield* (yield* Access).org(orgPath(), "webhook.create")
      const url = `${(yield* Hook).url}/hook`
      return yield* transaction(webhooks.create(place, { url, events: ["secret.*"], ...wish }))
    })
  )

const updating = as(Effect.flatMap(Access, (access) => access.org(orgPath(), "webhook.update")))

export const change = ({ id }: WebhookWithKey, wish: ChangedWebhook) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    return yield* transaction(webhooks.update(yield* updating, id, wish))
  })

export const rotate = ({ id }: WebhookWithKey, seconds?: number) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const rotated = yield* transaction(webhooks.rotateKey(yield* updating, id, seconds))
    return Redacted.value(rotated.signing_key)
  })

export const sendTest = ({ id }: WebhookWithKey) =>
  Effect.gen(function* () {
    const deliveries = yield* Deliveries
    return yield* transaction(deliveries.test(yield* updating, id))
  })

export const sendAgain = ({ id }: WebhookWithKey, delivery: WebhookDelivery) =>
  Effect.gen(function* () {
    const deliveries = yield* Deliveries
    return yield* transaction(deliveries.sendAgain(yield* updating, id, delivery.id))
  })

/** A webhook as it is now. */
export const shown = ({ id }: WebhookWithKey) =>
  as(
    Effect.gen(function* () {
      const place = yield* (yield* Access).org(orgPath(), "webhook.list")
      return yield* (yield* Webhooks).get(place, id)
    })
  )

/** The deliveries of a webhook, oldest first. */
export const deliveriesOf = ({ id }: WebhookWithKey) =>
  as(
    Effect.gen(function* () {
      const deliveries = yield* Deliveries
      const place = yield* (yield* Access).org(orgPath(), "webhook.list")
      const { data } = yield* deliveries.list(place, id, { limit: 100 })
      return data.toReversed()
    })
  )

/** Does what the job does, until nothing is due. */
export const deliver = Effect.gen(function* () {
  const { fanOut, workers } = yield* makeDeliveryWorkers
  yield* fanOut
  yield* Effect.forEach(yield* workers, ({ run }) => run, { discard: true, concurrency: "unbounded" })
})

/** Lets time pass in steps, and delivers after each. */
export const pass = (hours: number, minutesAtOnce = 30) =>
  Effect.zipRight(TestClock.adjust(`${minutesAtOnce} minutes`), deliver).pipe(
    Effect.repeatN(Math.ceil((hours * 60) / minutesAtOnce) - 1)
  )
