import { type AuditAction, auditActions } from "../audit/AuditEntry.js"

/** Events whose names differ from their action in the audit log. */
const renamed: Partial<Record<AuditAction, string>> = {
  "org.member_invite": "member.invite",
  "org.member_remove": "member.remove",
  "org.member_role_update": "member.role"
}

/** Actions that are no events: reads, which the audit stream has, and what no organization's webhook could be sent. */
const unsent: ReadonlySet<string> = new Set<AuditAction>([
  "auth.login",
  "auth.logout",
  "auth.verify",
  "auth.verify_failed",
  "auth.lockout",
  "auth.federate",
  "org.create",
  "org.delete",
  "org.export",
  "org.export_approve",
  "org.export_end",
  "org.import",
  "secret.read",
  "request.read",
  "secret.check",
  "secret.compare",
  "secret.use",
  "secret.answer",
  "connection.test",
  "user.disable",
  "user.enable",
  "user.end_sessions",
  "backup.create",
  "backup.restore",
  "backup.drill",
  "key.rotate",
  "audit.archive"
])

/** The event of an action; null if it has none. Actions of a newer server's entries are their own names. */
export const eventOfAction = (action: string): string | null => {
  if (unsent.has(action)) return null
  const names: Readonly<Record<string, string>> = renamed
  return names[action] ?? action
}

/** The events that a webhook can ask for. */
export const webhookEvents: ReadonlyArray<string> = auditActions.flatMap((action) => eventOfAction(action) ?? [])

const groupOf = (event: string): string => event.slice(0, event.indexOf(".") + 1)

/** Whether a pattern is `*`, an event, or a group of events such as `secret.*`. */
export const isEventPattern = (text: string): boolean =>
  text === "*" ||
  webhookEvents.includes(text) ||
  (text.endsWith(".*") && webhookEvents.some((event) => groupOf(event) === text.slice(0, -1)))

/** Events that `*` does not match: refusals, which anybody can cause in numbers, and those of webhooks themselves. */
const isQuiet = (event: string): boolean => event === "access.denied" || groupOf(event) === "webhook."

export const fitsEvent = (patterns: ReadonlyArray<string>, event: string): boolean =>
  patterns.includes(event) || patterns.includes(`${groupOf(event)}*`) || (patterns.includes("*") && !isQuiet(event))
