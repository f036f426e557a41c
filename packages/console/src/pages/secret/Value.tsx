import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { dueStateAt } from "@coffer/domain/secrets/DueState"
import { When } from "../../kit/When.js"
import { wallMillis } from "../../state/ServerTime.js"
import { StoredValue } from "../matrix/CellPanel.js"
import { ValueEditor } from "../matrix/ValueEditor.js"
import { type Model, type Spot, stagedIn, storedIn } from "../matrix/Model.js"
import { hide } from "../matrix/GridValues.js"
import { unstage } from "../../staging/Staged.js"

interface ValueProps {
  readonly model: Model
  readonly spot: Spot
}

const states = { due: "due soon", overdue: "overdue" }

/** The facts about a value that are known without reading it. */
const Facts = ({ spot }: Pick<ValueProps, "spot">) => {
  const stored = storedIn(spot)
  if (stored === null) return null
  const due = dueStateAt(stored.due_at, wallMillis())
  return (
    <p class="quiet">
      {stored.kind === "reference" && <span class="badge">reference</span>} Version {stored.version},{" "}
      <When time={stored.updated_at} /> by {stored.updated_by}
      {due !== null && <span class={`badge due-${due}`}>{states[due]}</span>}
    </p>
  )
}

/** The current value: reveal, copy, and a field for a new one, which is staged as in the matrix. */
export const Value = ({ model, spot }: ValueProps) => {
  const isEditing = useSignal(false)
  useEffect(() => hide, [])
  const editButton = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useLayoutEffect(() => {
    if (wasEditing.current && !isEditing.value) editButton.current?.focus()
    wasEditing.current = isEditing.value
  }, [isEditing.value])
  const { column, row } = spot
  const [stored, staged] = [storedIn(spot), stagedIn(spot)]
  const canWrite = column.canWrite
  const edit = (
    <button
      type="button"
      ref={editButton}
      disabled={!canWrite}
      title={canWrite ? undefined : "needs a rule with the permission write, and the role developer"}
      onClick={() => (isEditing.value = true)}
    >
      {stored === null ? "Create" : "Edit"}
    </button>
  )
  return (
    <section class="secret-value" aria-label="Value">
      <Facts spot={spot} />
      {staged !== null && (
        <p class="secret-staged">
          {staged.type === "delete" ? "Its removal is staged." : "A new value is staged."}{" "}
          <button
            type="button"
            onClick={() => {
              model.staging.change((all) => unstage(all, column.name, row.key))
            }}
          >
            Take back
          </button>
        </p>
      )}
      {isEditing.value && canWrite ? (
        <>
          <ValueEditor model={model} spot={spot} isGone={false} close={() => (isEditing.value = false)} />
          <button type="button" class="secret-cancel" onClick={() => (isEditing.value = false)}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <StoredValue
            model={model}
            spot={spot}
            masked={
              <span class="matrix-value" aria-hidden="true">
                ••••••••••••
              </span>
            }
          >
            {edit}
          </StoredValue>
          {stored === null && edit}
        </>
      )}
    </section>
  )
}
