import type { EnvName } from "@coffer/domain/base/Names"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { ComponentChildren } from "preact"
import "./ChangeTable.css"

type Change = BundleWritten["data"][number]

interface ChangeTableProps {
  readonly env: EnvName
  readonly written: BundleWritten
  /** More about the environment, beside its name. */
  readonly mark?: ComponentChildren
  /** More about a change. */
  readonly note?: (change: Change) => ComponentChildren
}

/** The kinds of changes, in the order in which they are shown: the word of a row, that of a count, and the sign. */
const kinds = [
  ["created", "create", "added", "+"],
  ["updated", "change", "changed", "~"],
  ["deleted", "delete", "removed", "−"],
  ["unchanged", "no change", "as it is", "="]
] as const

const kindOf = (change: string) => kinds.findIndex(([kind]) => kind === change)

const problems: Readonly<Record<string, string>> = {
  breaks_pattern: "breaks its pattern",
  required: "is required here"
}

/** The changes of a write, as its dry run reports them: what is added, changed and removed, with counts. */
export const ChangeTable = ({ env, mark, note, written: { data, warnings = [] } }: ChangeTableProps) => (
  <table class="list changes diff">
    <caption>
      <span class="hidden">Changes of </span>
      <strong>{env}</strong> {mark}
      {kinds.map(([kind, , word, sign]) => {
        const count = data.filter(({ change }) => change === kind).length
        return (
          count > 0 && (
            <span key={kind} class={`diff-count change-${kind}`}>
              {sign} {count.toLocaleString("en")} {word}
            </span>
          )
        )
      })}
    </caption>
    <thead class="hidden">
      <tr>
        <th scope="col">Change</th>
        <th scope="col">Key</th>
        <th scope="col">Version</th>
      </tr>
    </thead>
    <tbody>
      {[...data]
        .sort((a, b) => kindOf(a.change) - kindOf(b.change))
        .map((one) => {
          const [, word = one.change, , sign = ""] = kinds[kindOf(one.change)] ?? []
          return (
            <tr key={one.key} class={`diff-${one.change}`}>
              <td>
                <span aria-hidden="true" class="diff-sign">
                  {sign}
                </span>{" "}
                <span>{word}</span>
              </td>
              <td>
                <span class="key">{one.key}</span>{" "}
                {warnings.map(
                  ({ key, problem }) =>
                    key === one.key && (
                      <span key={problem} class="badge warn">
                        {problems[problem] ?? problem}
                      </span>
                    )
                )}
                {note?.(one)}
              </td>
              <td class="quiet">
                {one.change === "updated" && `v${one.version - 1} → v${one.version}`}
                {one.change === "created" && `v${one.version}`}
              </td>
            </tr>
          )
        })}
    </tbody>
  </table>
)
