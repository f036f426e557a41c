import type { AuditAction } from "@coffer/domain/audit/AuditEntry"
import { auditSentence } from "@coffer/domain/audit/AuditSentence"
import type { WebhookEvent } from "@coffer/domain/server/Webhook"
import { eventOfAction } from "@coffer/domain/server/WebhookEvents"

interface Telling {
  readonly actions: ReadonlyArray<AuditAction>
  /** Without it, the sentence would say that something is unknown. */
  readonly needs: "environment" | "key" | "organization" | "subject"
  /** The detail of the entry that the event's subject is. */
  readonly detail?: "email" | "name"
}

/**
 * The actions whose sentence in the audit log needs only what an event has. Those of the others would be wrong without their
 * details.
 */
const tellings: ReadonlyArray<Telling> = [
  {
    needs: "key",
    actions: [
      ...([
        "secret.set",
        "secret.update",
        "secret.delete",
        "secret.copy",
        "secret.rotated",
        "secret.undelete",
        "secret.destroy"
      ] as const),
      ...(["secret.decryption_failed", "declared.delete"] as const),
      ...(["use_rule.create", "use_rule.update", "use_rule.delete"] as const)
    ]
  },
  { needs: "environment", actions: ["protection.delete"] },
  { needs: "organization", actions: ["audit.break"] },
  { needs: "subject", detail: "email", actions: ["org.member_remove"] },
  {
    needs: "subject",
    detail: "name",
    actions: [
      ...(["org.update", "project.create", "project.update", "project.delete", "env.create", "env.delete"] as const),
      ...(["org.restore", "project.restore", "project.erase", "env.restore", "env.erase"] as const),
      ...(["group.create", "group.delete", "service_account.create", "service_account.revoke"] as const),
      ...(["service_account.rotate", "service_account.expiring", "webhook.create", "webhook.update"] as const),
      ...(["webhook.delete", "webhook.rotate", "webhook.disable", "webhook.test", "webhook.send"] as const),
      ...(["target.create", "target.update", "target.delete"] as const)
    ]
  }
]

const byEvent = new Map(
  tellings.flatMap(({ actions, ...rest }) =>
    actions.map((action) => [eventOfAction(action) ?? action, { action, ...rest }] as const)
  )
)

/** Joins the facts of an event for which there is no sentence. */
const plain = ({ actor, due_at, environment, event, key, project, subject }: WebhookEvent): string => {
  const place = [project, environment, key].filter((name) => name !== null).join("/")
  return [`${actor}:`, event, subject, place === "" ? null : place, due_at === null ? null : `(${due_at})`]
    .filter((part) => part !== null)
    .join(" ")
}

/** Says in one sentence what happened: names and versions, and nothing that the event itself does not have. */
export const eventText = (event: WebhookEvent): string => {
  const known = byEvent.get(event.event)
  const sentence =
    known === undefined || event[known.needs] === null
      ? plain(event)
      : auditSentence({
          action: known.action,
          actor_name: event.actor,
          metadata: {
            project: event.project,
            env: event.environment,
            key: event.key,
            version: event.version,
            expires_at: event.due_at,
            ...(known.detail !== undefined && { [known.detail]: event.subject })
          }
        })
  // Names have no such characters, but those of a provider might.
  return `${event.organization}: ${sentence}`.replace(/\p{Cc}+/gu, " ")
}
