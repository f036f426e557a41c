import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { type Signal, useSignal } from "@preact/signals"
import { Check } from "../../../kit/Check.js"
import { envOf } from "../../../routing/Places.js"
import { query } from "../../../routing/Router.js"
import { keysIn } from "../Chosen.js"
import type { Column, GridRow } from "../Grid.js"
import type { Model } from "../Model.js"

/** A column with those of the chosen keys that have a secret in it. */
export interface Target {
  readonly column: Column
  readonly keys: ReadonlyArray<SecretKey>
}

/** The columns that can be written and have some of the rows. */
export const targetsOf = ({ grid }: Model, rows: ReadonlyArray<GridRow>): ReadonlyArray<Target> =>
  grid.value.columns
    .filter(({ canWrite }) => canWrite)
    .map((column) => ({ column, keys: keysIn(rows, grid.value, column) }))
    .filter(({ keys }) => keys.length > 0)

/** The environments that are ticked: at first the one that the address marks, or the only one. */
export const useTicked = (targets: ReadonlyArray<Target>): Signal<ReadonlySet<EnvName>> => {
  const marked = envOf(query.peek())
  const [only, ...others] = targets
  const first = targets.find(({ column }) => column.name === marked) ?? (others.length === 0 ? only : undefined)
  return useSignal<ReadonlySet<EnvName>>(new Set(first === undefined ? [] : [first.column.name]))
}

interface EnvironmentsProps {
  readonly legend: string
  readonly targets: ReadonlyArray<Target>
  readonly ticked: Signal<ReadonlySet<EnvName>>
}

/** Boxes for the environments, with the number of secrets in each. */
export const TargetEnvironments = ({ legend, targets, ticked }: EnvironmentsProps) => (
  <fieldset class="bulk-envs">
    <legend>{legend}</legend>
    {targets.map(({ column: { name }, keys }) => (
      <Check
        key={name}
        isChecked={ticked.value.has(name)}
        choose={(isChecked) => {
          const next = new Set(ticked.peek())
          if (isChecked) next.add(name)
          else next.delete(name)
          ticked.value = next
        }}
      >
        {name}{" "}
        <span class="quiet">
          {keys.length.toLocaleString("en")} {keys.length === 1 ? "secret" : "secrets"}
        </span>
      </Check>
    ))}
  </fieldset>
)
