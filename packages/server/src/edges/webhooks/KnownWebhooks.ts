import type { WebhookId } from "@coffer/domain/base/Ids"
import type { AuditAction } from "@coffer/domain/audit/AuditEntry"
import { originOf } from "@coffer/domain/server/Webhook"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { type WebhookRow, webhooksRepo } from "./Repo.js"

export type WebhookPlace = Place<"webhook.list" | "webhook.create" | "webhook.update" | "webhook.delete">

/** The steps that calls about a webhook share: finding it, locking it, and recording what is done to it. */
export class KnownWebhooks extends Effect.Service<KnownWebhooks>()("@coffer/server/KnownWebhooks", {
  effect: Effect.gen(function* () {
    const repo = yield* webhooksRepo
    const audit = yield* AuditLog

    const find = Effect.fnUntraced(function* (place: WebhookPlace, id: WebhookId) {
      return (yield* repo.find({ orgId: place.org.id, id })) ?? (yield* notFound(`webhook ${id}`))
    })

    /** Finds a webhook and locks it, so that a delivery that ends meanwhile waits for the change. */
    const lock = (place: WebhookPlace, id: WebhookId) =>
      find(place, id).pipe(Effect.zipRight(repo.lock({ id })), Effect.zipRight(find(place, id)))

    /** Records a change of a webhook. Its address is recorded without the path. */
    const record = (
      place: WebhookPlace,
      { id, url }: Pick<WebhookRow, "id" | "url">,
      action: Extract<AuditAction, `webhook.${string}`>,
      metadata: Readonly<Record<string, unknown>> = {}
    ) =>
      audit.change(sourceOf(place), {
        action,
        resource_type: "webhook",
        resource_id: id,
        metadata: { name: originOf(url), ...metadata }
      })

    return { find, lock, record } as const
  })
}) {}
