import { type Action, type Need, needs } from "@coffer/domain/access/Permissions"
import type { McpSettings } from "./McpSettings.js"

/** The hints of a tool: hosts decide by them whether an agent may use it. */
export interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The conditions under which a tool is offered. */
export interface Offer {
  readonly name: string
  readonly annotations: Hints
  /**
   * The settings that it is for: a tool with `reveal` replaces the one of the same name with the other setting, and a tool
   * with `extra` or `use` is offered only on request. One with `person` is of no use to a service account.
   */
  readonly when: { readonly reveal?: boolean; readonly extra?: true; readonly use?: true; readonly person?: true }
}

/** Whether only people can do an action: by a role in the organization, which a service account never has. */
export const isForPeople = (action: Action): boolean => {
  const need: Need = needs[action]
  if ("people" in need) return true
  return "role" in need && !("permission" in need) && need.account === undefined
}

/** The tools that are listed. One that is only left out as unusable may still be called: the server refuses it. */
export const listedOf = <T extends Offer>(tools: ReadonlyArray<T>, settings: McpSettings): ReadonlyArray<T> => {
  const { offered } = offersOf(tools, settings)
  return settings.tools === "usable" && settings.account ? offered.filter(({ when }) => when.person !== true) : offered
}

/** The names of `SERVICE_MCP_TOOLS` that no tool has. */
export const unknownIn = (tools: ReadonlyArray<Offer>, { tools: wanted }: McpSettings): ReadonlyArray<string> =>
  typeof wanted === "string" ? [] : wanted.filter((name) => !tools.some((tool) => tool.name === name))

/** Splits the tools of the settings into those offered and those withheld because they change something. */
export const offersOf = <T extends Offer>(tools: ReadonlyArray<T>, settings: McpSettings) => {
  const { extra, readOnly, reveal, tools: wanted, use } = settings
  const available = tools.filter(
    ({ name, when }) =>
      (when.reveal ?? reveal) === reveal &&
      (extra || when.extra !== true) &&
      (use || when.use !== true) &&
      (typeof wanted === "string" || wanted.includes(name))
  )
  const isOffered = ({ annotations }: T) => !readOnly || annotations.readOnlyHint
  return { offered: available.filter(isOffered), withheld: available.filter((tool) => !isOffered(tool)) } as const
}
