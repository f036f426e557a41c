import { computed } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { chipWords } from "./Chips.js"
import { countRows, type Mark } from "./Grid.js"
import { type Model, setBase, setFilter } from "./Model.js"

interface ChipProps {
  readonly model: Model
  readonly only: Mark
  readonly count: number
  readonly children: string
}

const Chip = ({ children, count, model, only }: ChipProps) => {
  const isOn = model.filter.value.only === only
  return (
    <button
      type="button"
      class="matrix-chip"
      aria-pressed={isOn}
      disabled={count === 0 && !isOn}
      onClick={() => {
        setFilter(model, { ...model.filter.value, only: isOn ? null : only })
      }}
    >
      {children} <span class="matrix-count">{count.toLocaleString("en")}</span>
    </button>
  )
}

/** Shows the rows of deleted keys instead. How many there are is not known before they are read. */
export const DeletedChip = ({ model }: { readonly model: Model }) => {
  const { only } = model.filter.value
  return (
    <button
      type="button"
      class="matrix-chip"
      aria-pressed={only === "removed"}
      onClick={() => {
        model.setOpen(null)
        setFilter(model, { ...model.filter.value, only: only === "removed" ? null : "removed" })
      }}
    >
      Deleted
    </button>
  )
}

/** The column that the others are compared with. Without one, values of environments are taken to differ by nature. */
const CompareWith = ({ model }: { readonly model: Model }) => {
  const { base, columns } = model.grid.value
  const readable = columns.filter(({ canRead }) => canRead)
  if (readable.length < 2) return null
  return (
    <label class="matrix-base">
      Compare with
      <select
        value={columns[base]?.name ?? ""}
        onChange={({ currentTarget }) => {
          setBase(model, currentTarget.value === "" ? null : currentTarget.value)
        }}
      >
        <option value="">nothing</option>
        {readable.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Filters, and the ways to add secrets. */
export const Toolbar = ({ model }: { readonly model: Model }) => {
  const counts = useMemo(() => computed(() => countRows(model.grid.value.rows)), [model])
  const countOf = (mark: Mark) => counts.value.get(mark) ?? 0
  const { base } = model.grid.value
  const canWrite = model.grid.value.columns.some((column) => column.canWrite)
  const why = canWrite ? undefined : "needs a rule with the permission write, and the role developer"
  return (
    <div class="matrix-toolbar" role="toolbar" aria-label="Filters and actions">
      <input
        id="matrix-filter"
        type="search"
        aria-label="Filter keys"
        placeholder="Filter keys  /"
        value={model.filter.value.text}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setFilter(model, { ...model.filter.value, text: currentTarget.value })
        }}
        onKeyDown={({ currentTarget, key }) => {
          if (key === "Escape") setFilter(model, { ...model.filter.value, text: "" })
          if (key === "ArrowDown" || key === "Enter") {
            currentTarget.closest("section")?.querySelector<HTMLElement>("[role=grid]")?.focus()
          }
        }}
      />
      <div class="matrix-strip">
        {chipWords.map(([mark, words, isAlways]) =>
          isAlways === true || countOf(mark) > 0 || model.filter.value.only === mark ? (
            <Chip key={mark} model={model} only={mark} count={countOf(mark)}>
              {words}
            </Chip>
          ) : null
        )}
        {base !== -1 && (
          <Chip model={model} only="different" count={countOf("different")}>
            Differs
          </Chip>
        )}
        <DeletedChip model={model} />
        <CompareWith model={model} />
      </div>
      <Menu label="More actions">
        <MenuItem
          why={why ?? null}
          run={() => {
            model.setOpen({ type: "import", env: null, text: "", file: "" })
          }}
        >
          Import
        </MenuItem>
        <MenuItem
          why={model.grid.value.columns.some(({ reveals }) => reveals) ? null : "you may not see values"}
          run={() => {
            model.setOpen({ type: "bulk", act: "exportAll" })
          }}
        >
          Export
        </MenuItem>
      </Menu>
      <button
        type="button"
        class="primary"
        disabled={!canWrite}
        title={why}
        onClick={() => {
          model.setOpen({ type: "new", key: "" })
        }}
      >
        New key
      </button>
    </div>
  )
}
