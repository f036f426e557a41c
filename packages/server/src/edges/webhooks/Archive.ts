import type { ArchivedWebhook } from "@coffer/domain/archive/ArchivedOrganization"
import { type OrgId, WebhookId } from "@coffer/domain/base/Ids"
import { originOf } from "@coffer/domain/server/Webhook"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Outbound } from "../../base/outbound/Outbound.js"
import { uuidsV7 } from "../../base/Uuid.js"
import { type Arriving, stamps } from "../../directory/archives/Arriving.js"
import { phase } from "../../directory/archives/Phases.js"
import { formatOf } from "./Formats.js"
import { webhooksRepo } from "./Repo.js"
import { SigningKeys } from "./SigningKeys.js"
import { patternsOf } from "./Webhooks.js"

/** Webhooks in archives, without signing keys. */
export const webhooksArchive = Effect.gen(function* () {
  const repo = yield* webhooksRepo
  const keys = yield* SigningKeys
  const outbound = yield* Outbound

  const read = (orgId: OrgId) =>
    Effect.flatMap(repo.all({ orgId }), (rows) =>
      Effect.forEach(rows, ({ enabled, environments: places, events: names, format, url }) =>
        Effect.map(Effect.all([patternsOf(names), patternsOf(places)]), ([events, environments]) => ({
          ...{ url, events, environments },
          format: formatOf(format),
          enabled: enabled === 1
        }))
      )
    )

  /** Leaves out webhooks to addresses that this server sends nothing to, with a note on each. */
  const admit = (webhooks: ReadonlyArray<ArchivedWebhook>, leave: (note: string) => void) =>
    Effect.filter(webhooks, ({ url }) =>
      Effect.map(Effect.either(outbound.check(url)), (checked) => {
        if (Either.isLeft(checked)) leave(`webhook to ${originOf(url)}: ${checked.left.message}`)
        return Either.isRight(checked)
      })
    )

  /** Disabled: whoever receives the events does not know the new signing key yet. */
  const write = ({ id: org_id, importer: { email: created_by }, structure }: Arriving) =>
    phase(
      structure.webhooks,
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const seq = (yield* repo.headOf({ log: org_id }))?.seq ?? 0
          const made = Array.zip(some, yield* uuidsV7(some.length))
          for (const [{ environments, events, format = "coffer", url }, uuid] of made) {
            const id = WebhookId.make(uuid)
            yield* repo.insert([
              {
                ...{ id, org_id, url, events: JSON.stringify(events), environments: JSON.stringify(environments) },
                ...{ format, enabled: 0, seq, key_number: 1, created_by },
                ...(yield* stamps)
              }
            ])
            yield* keys.make(id, 1)
          }
        })
      ),
      2
    )

  return { read, admit, write } as const
})
