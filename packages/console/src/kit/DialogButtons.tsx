import type { Action } from "./Act.js"
import { Problem } from "./Problem.js"

interface DialogButtonsProps {
  readonly act: Action
  readonly close: () => void
  /** The word on the button that does it. */
  readonly word: string
  readonly kind: "primary" | "danger"
  readonly decide: () => void
}

/** The end of a dialog that asks: what went wrong, and the buttons that cancel and that do it. */
export const DialogButtons = ({ act, close, decide, kind, word }: DialogButtonsProps) => (
  <>
    <Problem failure={act.failure.value} />
    <footer>
      <button type="button" disabled={act.isBusy.value} onClick={close}>
        Cancel
      </button>
      <button type="button" class={kind} disabled={act.isBusy.value} onClick={decide}>
        {word}
      </button>
    </footer>
  </>
)
