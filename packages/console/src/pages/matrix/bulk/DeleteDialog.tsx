import { Dialog } from "../../../kit/Dialog.js"
import type { GridRow } from "../Grid.js"
import { type Model, stageRemovals } from "../Model.js"
import { TargetEnvironments, targetsOf, useTicked } from "./TargetEnvironments.js"

interface DeleteProps {
  readonly model: Model
  readonly rows: ReadonlyArray<GridRow>
  readonly close: () => void
}

/** Stages the removal of the chosen keys from some environments. */
export const DeleteDialog = ({ close, model, rows }: DeleteProps) => {
  const targets = targetsOf(model, rows)
  const ticked = useTicked(targets)
  const removals = targets.filter(({ column }) => ticked.value.has(column.name))
  const count = removals.reduce((sum, { keys }) => sum + keys.length, 0)
  return (
    <Dialog title="Delete the chosen keys" close={close}>
      {targets.length === 0 ? (
        <p>None of them has a secret in an environment that you may write.</p>
      ) : (
        <TargetEnvironments legend="From" targets={targets} ticked={ticked} />
      )}
      <p class="hint">Nothing is written before you have reviewed it. Ctrl Z takes it back.</p>
      <footer>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={count === 0}
          onClick={() => {
            stageRemovals(model, removals)
            close()
          }}
        >
          {count === 0 ? "Stage" : `Stage ${count.toLocaleString("en")} ${count === 1 ? "removal" : "removals"}`}
        </button>
      </footer>
    </Dialog>
  )
}
