import { dueStateAt } from "@coffer/domain/secrets/DueState"
import { X } from "lucide"
import { useEffect } from "preact/hooks"
import { Icon } from "../../kit/Icon.js"
import { useLazy } from "../../kit/Lazy.js"
import { Disc } from "../../kit/Person.js"
import { exactly } from "../../kit/Exactly.js"
import { Link } from "../../routing/Link.js"
import { envOf, secretAddress } from "../../routing/Places.js"
import { navigate, query, setQuery } from "../../routing/Router.js"
import { leave } from "../../routing/Unsent.js"
import { wallMillis } from "../../state/ServerTime.js"
import { ageOf } from "./Age.js"
import { type Column, describeCell, type GridCell } from "./Grid.js"
import { type Model, spotAt } from "./Model.js"
import { isWide, select, selectedKey, sideId } from "./Selected.js"

const EnvState = ({ cell: { equal, staged, stored } }: { readonly cell: GridCell }) => {
  const now = wallMillis()
  const due = dueStateAt(stored?.due_at, now)
  return (
    <span class="side-state" aria-hidden="true">
      {stored === null && <span class="quiet">missing</span>}
      {equal !== null && <span class="matrix-equal">= {equal}</span>}
      {stored?.kind === "reference" && <span class="matrix-kind">ref</span>}
      {due !== null && <span class={`matrix-due due-${due}`}>{due}</span>}
      {staged !== null && <span class="badge">staged</span>}
      {stored !== null && (
        <>
          <span class="quiet">{`v${stored.version} · ${ageOf(stored.updated_at, now)}`}</span>
          <span title={`${stored.updated_by}, ${exactly(stored.updated_at)}`}>
            <Disc address={stored.updated_by} />
          </span>
        </>
      )}
    </span>
  )
}

interface PanelProps {
  readonly model: Model
  readonly reload: () => void
}

/** A key beside the grid: its state in each environment, and its secret in one of them. */
export const KeyPanel = ({ model, reload }: PanelProps) => {
  const key = selectedKey.value
  const { org, project } = model.place
  const { columns } = model.grid.value
  const wanted = envOf(query.value)
  const readable = columns.filter(({ canRead }) => canRead)
  const spotOf = ({ name }: Column) => (key === null ? null : spotAt(model, { key, env: name }))
  const current =
    readable.find(({ name }) => name === wanted) ??
    readable.find((column) => (spotOf(column)?.row.cells[columns.indexOf(column)]?.stored ?? null) !== null) ??
    readable[0]
  const isShown = key !== null && current !== undefined && isWide.value
  const loaded = useLazy(isShown, async () => (await import("../secret/Page.js")).InEnvironment)
  useEffect(() => {
    // The address of a panel, opened where it has no room.
    if (key !== null && current !== undefined && !isWide.peek()) {
      navigate(secretAddress(org, project, current.name, key), { replace: true })
    }
  }, [key, current === undefined])
  if (!isShown) return null
  const cells = spotOf(current)?.row.cells ?? []
  const close = () => {
    const side = document.getElementById(sideId)
    if (side !== null) {
      leave(side, () => {
        setQuery("key", null)
        document.querySelector<HTMLElement>(".matrix-grid")?.focus({ preventScroll: true })
      })
    }
  }
  return (
    <aside
      id={sideId}
      class="matrix-side secret"
      aria-label={`Secret ${key}`}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return
        event.preventDefault()
        close()
      }}
    >
      <header>
        <h2 class="key">{key}</h2>
        <Link to={secretAddress(org, project, current.name, key)}>Full page</Link>
        <button type="button" class="plain dots" aria-label="Close the panel" onClick={close}>
          <Icon of={X} />
        </button>
      </header>
      <div class="side-envs" role="group" aria-label="Environments">
        {columns.map((column, index) => {
          const cell = cells[index]
          return column.canRead && cell !== undefined ? (
            <button
              key={column.name}
              type="button"
              class="plain"
              aria-pressed={column === current}
              onClick={() => {
                select(key, column.name)
              }}
            >
              <span>
                {column.name} <span class="hidden">{describeCell(cell, column, null)}</span>
              </span>
              <EnvState cell={cell} />
            </button>
          ) : null
        })}
      </div>
      {/* Its editor has the place of the one that is open at a cell. */}
      {loaded !== null && model.open.value?.type !== "cell" && (
        <loaded.Part
          key={`${key}/${current.name}`}
          model={model}
          place={{ at: "secret", page: "", org, project, key }}
          reload={reload}
          column={current}
          isStoredElsewhere={cells.some(({ stored }) => stored !== null)}
        />
      )}
    </aside>
  )
}
