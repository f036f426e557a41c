import type { OrgId, WebhookId } from "@coffer/domain/base/Ids"
import type { DeliveryReason } from "@coffer/domain/server/Webhook"
import * as Effect from "effect/Effect"
import { Mailer } from "../../base/mail/Mailer.js"
import { webhooksRepo } from "./Repo.js"
import { maxTries } from "./Retry.js"

/** Maximum number of recipients. */
const maxMails = 20

interface Disabled {
  readonly orgId: OrgId
  readonly id: WebhookId
  readonly origin: string
  readonly reason: DeliveryReason | null
  readonly status: number | null
}

const textOf = ({ id, origin, reason, status }: Disabled) => `A webhook of your organization on Coffer was disabled.

Its receiver, ${origin}, did not take an event in ${maxTries} tries over a day. The last try failed: ${
  status === null ? (reason ?? "unknown") : `it answered with status ${status}`
}.

Nothing is lost: what was not delivered is sent, in its order, when the webhook is enabled again:

  coffer webhook deliveries ${id}
  coffer webhook edit ${id} --enable

This mail goes to the organization's owners and admins.
`

/** Mails about webhooks. */
export class Notices extends Effect.Service<Notices>()("@coffer/server/Notices", {
  effect: Effect.gen(function* () {
    const repo = yield* webhooksRepo
    const mailer = yield* Mailer
    return {
      disabled: (disabled: Disabled) =>
        Effect.flatMap(repo.admins({ orgId: disabled.orgId, limit: maxMails }), (admins) =>
          Effect.forEach(
            admins,
            ({ email }) =>
              mailer.sendNotice({ to: email, subject: "A webhook on Coffer was disabled", text: textOf(disabled) }),
            { discard: true }
          )
        )
    } as const
  })
}) {}
