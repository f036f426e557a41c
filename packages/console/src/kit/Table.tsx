import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface TableProps {
  readonly label: string
  readonly class?: string
  /** The names of the columns. A column of buttons has none. */
  readonly heads: ReadonlyArray<string>
  /** The rows. */
  readonly children: ComponentChildren
}

/** A word that is longer than those of a language: an address, a key, or one that a person made up. */
const longWord = /\S{25}/

/** A table. On a narrow screen, its rows are cards, and each cell shows the name of its column. */
export const Table = ({ children, class: name, heads, label }: TableProps) => {
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    for (const row of body.current?.rows ?? []) {
      // Elements that are not displayed as a table lose its roles.
      row.setAttribute("role", "row")
      for (const [index, cell] of [...row.cells].entries()) {
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell")
        cell.dataset["label"] = heads[index] ?? ""
        cell.classList.toggle("long", heads[index] !== "" && longWord.test(cell.textContent))
      }
    }
  })
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class={name === undefined ? "list stacked" : `list stacked ${name}`} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {heads.map((head) => (
              <th key={head} class={longWord.test(head) ? "long" : undefined} scope="col" role="columnheader">
                {head === "" ? <span class="hidden">Actions</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup">
          {children}
        </tbody>
      </table>
    </div>
  )
}
