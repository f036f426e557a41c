import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import { type Signal, signal } from "@preact/signals"
import { onOtherPerson } from "../state/Session.js"
import { holdAlways, release } from "../routing/Unsent.js"
import { countOf, nothingStaged, type Staged } from "./Staged.js"

/** The staged changes, while the page is open: never stored, because they hold values. */
export interface Staging {
  readonly staged: Signal<Staged>
  readonly change: (f: (staged: Staged) => Staged) => void
  /** Drops what was sent. Nothing before it can be taken back. */
  readonly drop: (f: (staged: Staged) => Staged) => void
  /** Takes the last change back. */
  readonly undo: () => void
}

const make = (): Staging => {
  const staged = signal(nothingStaged)
  const before: Array<Staged> = []
  return {
    staged,
    change: (f) => {
      const next = f(staged.peek())
      if (next === staged.peek()) return
      before.push(staged.peek())
      staged.value = next
    },
    drop: (f) => {
      before.length = 0
      staged.value = f(staged.peek())
    },
    undo: () => {
      const last = before.pop()
      if (last !== undefined) staged.value = last
    }
  }
}

const all = new Map<string, Staging>()

/** The staged changes of a project, which stay while other pages are open. */
export const stagingOf = (org: OrgName, project: ProjectName): Staging => {
  const name = `${org}/${project}`
  const found = all.get(name) ?? make()
  all.set(name, found)
  return found
}

/** Holds what is staged until the console ends, unless the page is not its person's any more. */
export const watchStaging = (): void => {
  onOtherPerson(() => {
    // The content of this page is not for another person, and a click on it would be made as that person.
    all.clear()
    release()
    location.reload()
  })
  holdAlways({
    what: "Changes are staged, and were not written yet.",
    holds: () => [...all.values()].some(({ staged }) => countOf(staged.peek()) > 0),
    element: () => null
  })
}
