/** An index that a statement has to use. */
export class IndexHint {
  constructor(readonly index: string) {}
}

/** A statement, cut at its parameters and hints: `slots[i]`, a parameter's name or a hint, stands between `texts[i]` and `texts[i + 1]`. */
export interface Template {
  readonly texts: ReadonlyArray<string>
  readonly slots: ReadonlyArray<string | IndexHint>
}

interface Marks {
  /** The placeholder of the parameter at a position, counted from 0. */
  readonly placeholder: (position: number) => string
  /** The clause after a table's name that makes the engine use an index; empty for an engine without hints. */
  readonly indexHint: (index: string) => string
}

/** Makes `Database.textOf` of an engine's placeholders and hints. */
export const textWith =
  ({ indexHint, placeholder }: Marks) =>
  ({ slots, texts }: Template): string => {
    let parameters = 0
    // Joined, because a text that is added up keeps all its parts in memory.
    return texts
      .flatMap((text, index) => {
        const slot = slots[index]
        if (slot === undefined) return text
        return [text, slot instanceof IndexHint ? indexHint(slot.index) : placeholder(parameters++)]
      })
      .join("")
  }
