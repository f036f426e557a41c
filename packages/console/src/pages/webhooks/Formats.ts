import type { WebhookFormat } from "@coffer/domain/server/Webhook"

const chats: Readonly<Record<string, string>> = {
  slack: "Slack",
  discord: "Discord",
  teams: "Teams (Workflows)",
  ntfy: "ntfy"
} satisfies Record<Exclude<WebhookFormat, "coffer">, string>

/** Describes the payload of a format, and says whether its receiver checks the signature. */
export const formatHint = (format: WebhookFormat): string =>
  format === "coffer"
    ? "JSON for a program, which checks the signature of each delivery."
    : `A message for ${chats[format]}, which checks no signature: whoever has the address can write there. Keep it secret.`

/** Returns the instructions for a signing key. A later version's format is sent as the format coffer. */
export const keyHint = (format: string | undefined): string => {
  const chat = chats[format ?? ""]
  return chat === undefined
    ? "Coffer stores it encrypted. Give it to the receiver, which checks deliveries with it."
    : `Coffer stores it encrypted. ${chat} checks no signature and needs no key: it is for a change of the format.`
}
