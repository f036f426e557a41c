import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"

/** The kinds of commands, in the order in which they are offered. */
export const commandKinds = [
  "Actions",
  "Pages",
  "Keys",
  "Environments",
  "Projects",
  "Organizations",
  "Members",
  "Groups",
  "Service accounts"
] as const
export type CommandKind = (typeof commandKinds)[number]

/** Something that can be done or opened by its name. */
export interface Command {
  readonly kind: CommandKind
  readonly title: string
  /** The kind of the command, or its destination. */
  readonly hint: string
  readonly run: () => void
}

/** The commands of the open page. */
export const pageCommands = signal<ReadonlyArray<Command>>([])

/** Offers what a page can do in the palette, while the page is open. */
export const useCommands = (commands: ReadonlyArray<Command>, ...dependencies: ReadonlyArray<unknown>): void => {
  useEffect(() => {
    pageCommands.value = commands
    return () => {
      pageCommands.value = []
    }
  }, dependencies)
}
