import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly title: string
  readonly close: () => void
  readonly class?: string
  readonly children: ComponentChildren
}

/** What had the focus may have gone with what the dialog did. */
const keepFocus = () => {
  if (document.activeElement === document.body) document.getElementById("page")?.focus()
}

/** The dialogs that are open. */
export const openDialogs = (): ReadonlyArray<Element> => [...document.querySelectorAll("dialog[open]")]

/** Closes those of the dialogs that are still open, as the key Escape does. */
export const closeDialogs = (dialogs: ReadonlyArray<Element>): void => {
  for (const dialog of dialogs) {
    if (dialog.isConnected) dialog.dispatchEvent(new Event("cancel", { cancelable: true }))
  }
}

/** A modal dialog. The browser keeps the focus in it, and gives it back afterwards. */
export const Dialog = ({ children, class: name, close, title }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the next key is pressed: it is for the dialog, and not for the page beneath.
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      requestAnimationFrame(keepFocus)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={name}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) close()
      }}
    >
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
