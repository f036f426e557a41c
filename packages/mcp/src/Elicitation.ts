/** Questions to a person in the terms of the protocol, which both of its eras share. */
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server"
import * as Predicate from "effect/Predicate"
import { plain } from "./Plain.js"
import type { Reply } from "./ToolResult.js"

/** The reply to a question or a visit. A form counts only with its box ticked. */
export const replyOf = (action: string, isConfirmed: boolean): Reply => {
  if (action === "cancel") return "cancelled"
  return action === "accept" && isConfirmed ? "accepted" : "declined"
}

export const isTicked = (content: unknown): boolean =>
  Predicate.hasProperty(content, "confirm") && content.confirm === true

export const formOf = (message: string): ElicitRequestFormParams => {
  const confirm = { type: "boolean", title: "Delete", description: message } as const
  // Without `mode`, which older hosts do not know, this is a form.
  return { message, requestedSchema: { type: "object", properties: { confirm }, required: ["confirm"] } }
}

/** Which questions a host can put to its person. One that names no kind can ask by forms. */
export const abilitiesOf = (capabilities: unknown) => {
  const elicitation = Predicate.hasProperty(capabilities, "elicitation") ? capabilities.elicitation : undefined
  const canVisit = Predicate.hasProperty(elicitation, "url")
  return { canVisit, canAsk: Predicate.isRecord(elicitation) && (!canVisit || "form" in elicitation) }
}

/** The name of the host's program with its version, bounded and without invisible characters. */
export const programOf = (info: unknown): string | undefined => {
  if (!Predicate.hasProperty(info, "name") || typeof info.name !== "string" || info.name === "") return undefined
  const version = Predicate.hasProperty(info, "version") && typeof info.version === "string" ? info.version : ""
  return `${plain(info.name, 64)} ${plain(version, 32)}`.trim()
}
