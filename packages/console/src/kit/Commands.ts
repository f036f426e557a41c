import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"

/** Something that can be done or opened by its name. */
export interface Command {
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
