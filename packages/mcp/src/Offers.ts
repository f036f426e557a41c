import type { McpSettings } from "./McpSettings.js"

/** The hints of a tool: hosts decide by them whether an agent may use it. */
export interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** What decides whether a tool is offered. */
export interface Offer {
  readonly annotations: Hints
  /** The settings that it is for: it replaces the tool of the same name with the other setting. */
  readonly when: { readonly reveal?: boolean }
}

/** Splits the tools of the settings into those offered and those withheld because they change something. */
export const offersOf = <T extends Offer>(tools: ReadonlyArray<T>, { readOnly, reveal }: McpSettings) => {
  const available = tools.filter(({ when }) => (when.reveal ?? reveal) === reveal)
  const isOffered = ({ annotations }: T) => !readOnly || annotations.readOnlyHint
  return { offered: available.filter(isOffered), withheld: available.filter((tool) => !isOffered(tool)) } as const
}
