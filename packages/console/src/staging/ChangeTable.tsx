import type { EnvName } from "@coffer/domain/base/Names"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { ComponentChildren } from "preact"

type Change = BundleWritten["data"][number]

interface ChangeTableProps {
  readonly env: EnvName
  readonly written: BundleWritten
  /** More about a change. */
  readonly note?: (change: Change) => ComponentChildren
}

const words: Readonly<Record<string, string>> = {
  created: "create",
  updated: "change",
  deleted: "delete",
  unchanged: "no change"
}

const problems: Readonly<Record<string, string>> = {
  breaks_pattern: "breaks its pattern",
  required: "is required here"
}

/** The changes of a write, as its dry run reports them. */
export const ChangeTable = ({ written: { data, warnings = [] }, env, note }: ChangeTableProps) => (
  <table class="list changes">
    <caption class="hidden">Changes of {env}</caption>
    <thead class="hidden">
      <tr>
        <th scope="col">Change</th>
        <th scope="col">Key</th>
        <th scope="col">Version</th>
      </tr>
    </thead>
    <tbody>
      {data.map((one) => (
        <tr key={one.key}>
          <td>
            <span class={`badge change-${one.change}`}>{words[one.change] ?? one.change}</span>
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
      ))}
    </tbody>
  </table>
)
