import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { Choose } from "../../../kit/Choose.js"
import { Dialog } from "../../../kit/Dialog.js"
import { envOf } from "../../../routing/Places.js"
import { query } from "../../../routing/Router.js"
import { type Promotion, PromotionDialog } from "../../promote/PromotionDialog.js"
import { keysIn } from "../Chosen.js"
import type { GridRow } from "../Grid.js"
import type { Model } from "../Model.js"

interface CopyProps {
  readonly model: Model
  readonly rows: ReadonlyArray<GridRow>
  readonly reload: () => void
  readonly close: () => void
}

/** Copies the chosen keys to another environment: the server does, so that no value passes through the browser. */
export const CopyDialog = ({ close, model, reload, rows }: CopyProps) => {
  const { columns } = model.grid.value
  const sources = columns.filter(({ canRead }) => canRead).map(({ name }) => name)
  const marked = envOf(query.value)
  const chosenFrom = useSignal<EnvName | null>(sources.find((name) => name === marked) ?? sources[0] ?? null)
  const chosenTo = useSignal<EnvName | null>(null)
  const reviewed = useSignal<Promotion | null>(null)
  const from = chosenFrom.value
  const targets = columns.filter(({ canWrite, name }) => canWrite && name !== from).map(({ name }) => name)
  const to = targets.find((name) => name === chosenTo.value) ?? targets[0] ?? null
  const column = columns.find(({ name }) => name === from)
  const keys = column === undefined ? [] : keysIn(rows, model.grid.value, column)
  if (reviewed.value !== null) {
    return (
      <PromotionDialog
        promotion={reviewed.value}
        close={close}
        done={(sent) => {
          model.sent.value = sent === null ? [] : [sent]
          reload()
          close()
        }}
      />
    )
  }
  return (
    <Dialog title="Copy the chosen keys" close={close}>
      {from === null || to === null ? (
        <p>There is no other environment that you may write.</p>
      ) : (
        <>
          <div class="fields">
            <Choose label="From" value={from} words={sources} choose={(name) => (chosenFrom.value = name)} />
            <Choose label="To" value={to} words={targets} choose={(name) => (chosenTo.value = name)} />
          </div>
          <p class="quiet">
            {keys.length.toLocaleString("en")} of {rows.length.toLocaleString("en")} have a secret in {from}.
          </p>
        </>
      )}
      <footer>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={keys.length === 0 || to === null}
          onClick={() => {
            if (from === null || to === null) return
            const isProtected = columns.some((one) => one.name === to && one.protected === true)
            reviewed.value = { place: model.place, from, to, keys, isProtected }
          }}
        >
          Review
        </button>
      </footer>
    </Dialog>
  )
}
