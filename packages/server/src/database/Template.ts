/** An index that a statement has to use. */
export class IndexHint {
  constructor(readonly index: string) {}
}

/** The time of the database, in milliseconds since 1970. Its parameter is the time of this process. */
export class DatabaseTime {
  protected readonly slot = true
}

/** A condition that fails the statement if the database went on without this process. */
export class FenceCheck {
  protected readonly slot = true
}

export type Slot = string | IndexHint | DatabaseTime | FenceCheck

/** A statement, cut at its slots: `slots[i]`, such as a parameter's name, stands between `texts[i]` and `texts[i + 1]`. */
export interface Template {
  readonly texts: ReadonlyArray<string>
  readonly slots: ReadonlyArray<Slot>
}

interface Marks {
  /** The placeholder of the parameter at a position, counted from 0. */
  readonly placeholder: (position: number) => string
  /** The clause after a table's name that makes the engine use an index; empty for an engine without hints. */
  readonly indexHint: (index: string) => string
  /** The time of the database. An engine that has no other clock than this process uses the placeholder. */
  readonly time: (placeholder: string) => string
  /** The condition of a fence check. */
  readonly fence: string
}

/** Makes `Database.textOf` of what an engine writes for slots. */
export const textWith =
  ({ fence, indexHint, placeholder, time }: Marks) =>
  ({ slots, texts }: Template): string => {
    let parameters = 0
    const mark = (slot: Slot): string => {
      if (slot instanceof IndexHint) return indexHint(slot.index)
      if (slot instanceof FenceCheck) return fence
      const own = placeholder(parameters++)
      return slot instanceof DatabaseTime ? time(own) : own
    }
    // Joined, because a text that is added up keeps all its parts in memory.
    return texts
      .flatMap((text, index) => {
        const slot = slots[index]
        if (slot === undefined) return text
        return [text, mark(slot)]
      })
      .join("")
  }
