import { Api } from "@coffer/domain/Api"
import { Webhook } from "@coffer/domain/server/Webhook"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Deliveries } from "./Deliveries.js"
import { Webhooks } from "./Webhooks.js"

const listed = longList(Webhook)

export const WebhooksHttp = HttpApiBuilder.group(Api, "webhooks", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const webhooks = yield* Webhooks
    const deliveries = yield* Deliveries
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "webhook.create"), (place) => webhooks.create(place, payload))
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "webhook.list"), webhooks.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.org(path, "webhook.list"), (place) => webhooks.get(place, path.webhook_id))
      )
      .handle("update", ({ headers, path, payload }) =>
        access.change(access.org(path, "webhook.update"), (place) =>
          webhooks.update(place, path.webhook_id, payload, headers["if-match"])
        )
      )
      .handle("delete", ({ path }) =>
        access.change(access.org(path, "webhook.delete"), (place) => webhooks.remove(place, path.webhook_id))
      )
      .handle("rotateKey", ({ path, payload }) =>
        access.change(access.org(path, "webhook.update"), (place) =>
          webhooks.rotateKey(place, path.webhook_id, payload.grace_seconds)
        )
      )
      .handle("test", ({ path }) =>
        access.change(access.org(path, "webhook.update"), (place) => deliveries.test(place, path.webhook_id))
      )
      .handle("deliveries", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "webhook.list"), (place) => deliveries.list(place, path.webhook_id, urlParams))
      )
      .handle("sendAgain", ({ path }) =>
        access.change(access.org(path, "webhook.update"), (place) =>
          deliveries.sendAgain(place, path.webhook_id, path.delivery_id)
        )
      )
  })
).pipe(Layer.provide([Webhooks.Default, Deliveries.Default]))
