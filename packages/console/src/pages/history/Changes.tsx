import type { ProjectRevision } from "@coffer/domain/secrets/ProjectRevision"
import { useSignal } from "@preact/signals"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import type { ProjectPlace } from "../../staging/Writes.js"

type Changed = ProjectRevision["keys"][number]

/** How many keys a closed revision names. */
const named = 3

const words: Readonly<Record<string, string>> = {
  created: "created",
  updated: "changed",
  deleted: "deleted",
  undeleted: "undeleted"
}

const summaryOf = (keys: ReadonlyArray<Changed>): string => {
  const rest = keys.length - named
  const first = keys.slice(0, named).map(({ change, key }) => `${key} ${words[change] ?? change}`)
  return [...first, ...(rest > 0 ? [`and ${rest.toLocaleString("en")} more`] : [])].join(", ")
}

const versionsOf = ({ change, version }: Changed): string => {
  if (change === "updated" && version > 1) return `v${version - 1} → v${version}`
  return `v${version}`
}

interface ChangesProps {
  readonly place: ProjectPlace
  readonly of: ProjectRevision
}

/** The changes of a revision, without values. Keys are rendered only while it is open: there may be thousands. */
export const Changes = ({ of: { env, keys, revision }, place: { org, project } }: ChangesProps) => {
  const isOpen = useSignal(false)
  return (
    <details
      class="history-changes"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary aria-label={`Changes of ${env} in revision ${revision}: ${summaryOf(keys)}`}>
        <span>{summaryOf(keys)}</span>
      </summary>
      {isOpen.value && (
        <ul>
          {keys.map((one) => (
            <li key={one.key}>
              <span class={`badge change-${one.change}`}>{words[one.change] ?? one.change}</span>{" "}
              <Link to={secretAddress(org, project, env, one.key)} class="key">
                {one.key}
              </Link>{" "}
              <span class="quiet">{versionsOf(one)}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}
