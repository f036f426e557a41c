import { useId } from "preact/hooks"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Shield } from "../../kit/Shield.js"
import { Ahead } from "../../kit/When.js"
import { navigate, setQuery, query } from "../../routing/Router.js"
import type { Column } from "./Grid.js"
import { driftOf, rightsOf } from "./Tracks.js"

/** A longer name does not widen the columns. */
const maxName = 20

interface HeadProps {
  readonly column: Column
  readonly index: number
  /** Whether the other columns are compared with it. */
  readonly isBase: boolean
  readonly compare: () => void
  readonly show: () => void
}

/** The head of an environment's column. Its name marks the column and is part of the address. */
export const ColumnHead = ({ column, compare, index, isBase, show }: HeadProps) => {
  const rights = rightsOf(column)
  // Without its menu: the name is read with each cell.
  const nameId = useId()
  const isMarked = query.value.get("env") === column.name
  const drift = driftOf(column)
  return (
    <div
      role="columnheader"
      class={`matrix-env${column.expires_at === undefined ? "" : " ending"}${column.name.length > maxName ? " long" : ""}`}
      aria-colindex={index + 2}
      aria-labelledby={nameId}
    >
      <span id={nameId} class="matrix-name">
        <button
          type="button"
          class="plain"
          tabIndex={-1}
          title={column.name}
          aria-pressed={isMarked}
          onClick={() => setQuery("env", isMarked ? null : column.name)}
        >
          {column.name} {column.protected === true && <Shield />}
        </button>
        {isBase && <span class="badge">base</span>}
        {drift !== null && (
          <span class="badge warn" title={`${drift}: somebody else did it at a target`}>
            drift<span class="hidden"> {drift}</span>
          </span>
        )}
        {column.expires_at !== undefined && (
          <span class="quiet matrix-rights">
            ends <Ahead time={column.expires_at} />
            {rights !== null && `, ${rights}`}
          </span>
        )}
        {column.expires_at === undefined && rights !== null && <span class="quiet matrix-rights">{rights}</span>}
      </span>
      {column.canRead && (
        <Menu label={`Actions of ${column.name}`}>
          <MenuItem run={show} why={column.reveals ? null : "you may not see values"}>
            Show all values for a minute <span class="quiet">recorded in the audit log</span>
          </MenuItem>
          <MenuItem run={compare}>
            {isBase ? "Compare with nothing" : `Compare the others with ${column.name}`}
          </MenuItem>
          {drift !== null && (
            <MenuItem
              run={() => {
                navigate(`${location.pathname}/-/targets?env=${column.name}`)
              }}
            >
              See its targets <span class="quiet">{drift}</span>
            </MenuItem>
          )}
        </Menu>
      )}
    </div>
  )
}
