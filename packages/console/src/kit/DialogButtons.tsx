import type { Action } from "./Act.js"
import { Problem } from "./Problem.js"

interface DialogButtonsProps {
  readonly act: Action
  readonly close: () => void
  /** The word on the button that does it. */
  readonly word: string
  readonly kind: "primary" | "danger"
  /** Whether there is nothing to do yet. */
  readonly isDisabled?: boolean
  readonly decide: () => void
}

/** The end of a dialog that asks: what went wrong, and the buttons that cancel and that do it. */
export const DialogButtons = ({ act, close, decide, isDisabled = false, kind, word }: DialogButtonsProps) => (
  <>
    <Problem failure={act.failure.value} />
    <footer>
      <button type="button" disabled={act.isBusy.value} onClick={close}>
        Cancel
      </button>
      <button type="button" class={kind} disabled={act.isBusy.value || isDisabled} onClick={decide}>
        {word}
      </button>
    </footer>
  </>
)
