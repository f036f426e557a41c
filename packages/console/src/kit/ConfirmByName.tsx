import { type ReadonlySignal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { Dialog } from "./Dialog.js"

interface ConfirmProps {
  readonly title: string
  /** The text that has to be typed: the name of the thing that is lost. */
  readonly name: string
  /** The word on the button, such as `Destroy`. */
  readonly verb: string
  /** Whether it is being done. */
  readonly busy: ReadonlySignal<boolean>
  readonly confirm: () => void
  readonly close: () => void
  /** The consequences. */
  readonly children: ComponentChildren
}

/** Asks for the name of what is lost before it is. */
export const ConfirmByName = ({ busy, children, close, confirm, name, title, verb }: ConfirmProps) => {
  const typed = useSignal("")
  return (
    <Dialog title={title} busy={busy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.value === name) confirm()
        }}
      >
        {children}
        <label for="confirm-name">
          Type <code>{name}</code> to continue
        </label>
        <input
          id="confirm-name"
          class="wide"
          data-passing
          value={typed.value}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
          }}
        />
        <footer>
          <button type="button" disabled={busy.value} onClick={close}>
            Cancel
          </button>
          <button class="danger" disabled={busy.value || typed.value !== name}>
            {verb}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
