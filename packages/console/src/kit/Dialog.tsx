import type { ReadonlySignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { takeTexts } from "../routing/Typed.js"
import { closeByBack } from "../routing/Router.js"
import { leave, unsent, useUnsent } from "../routing/Unsent.js"
import { keepFocus } from "./Focus.js"

interface DialogProps {
  readonly title: string
  readonly close: () => void
  readonly class?: string | undefined
  /** While true, the dialog stays open: otherwise its result, such as a key that is shown once, would be lost. */
  readonly busy?: ReadonlySignal<boolean>
  /** Whether Back leaves the dialog alone, because it asks about a step of Back itself. */
  readonly isOfBack?: boolean
  readonly children: ComponentChildren
}

/** Closes those of the dialogs that are still open, as the key Escape does: what was typed in them has been sent. */
export const closeDialogs = (dialogs: ReadonlyArray<Element>): void => {
  for (const dialog of dialogs) {
    if (!dialog.isConnected) continue
    takeTexts(dialog)()
    dialog.dispatchEvent(new Event("cancel", { cancelable: true }))
  }
}

/** Whether a press is beside the dialog. The edge and the scroll bar of the dialog have the dialog as their target too. */
const isBeside = ({ clientX, clientY, target }: MouseEvent, dialog: HTMLDialogElement): boolean => {
  const { bottom, left, right, top } = dialog.getBoundingClientRect()
  return target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom)
}

/** A modal dialog. The browser keeps the focus in it, and gives it back afterwards. Back closes it, and only it. */
export const Dialog = ({ busy, children, class: name, close, isOfBack = false, title }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const end = () => {
    if (busy?.peek() === true || dialog.current === null) return
    leave(dialog.current, close)
  }
  useUnsent({
    what: `“${title}” is still at work, and shows here what comes of it.`,
    holds: () => busy?.peek() === true,
    element: () => dialog.current
  })
  const latest = useRef(close)
  latest.current = close
  useLayoutEffect(() => {
    if (isOfBack) return
    return closeByBack((go) => {
      if (dialog.current === null) return
      leave(dialog.current, () => {
        go()
        latest.current()
      })
    })
  }, [])
  // Before the next key is pressed: it is for the dialog, and not for the page beneath.
  useLayoutEffect(() => {
    const before = document.activeElement
    const { current } = dialog
    current?.showModal()
    return () => {
      // While it is open, the page beneath takes no focus.
      current?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      keepFocus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={name}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        end()
      }}
      onClose={() => {
        // Browsers let a page prevent the first Escape only.
        const { current } = dialog
        if (current === null || (busy?.peek() !== true && unsent(current).length === 0)) return
        current.showModal()
        end()
      }}
      onMouseDown={(event) => {
        const { current } = dialog
        if (current !== null && isBeside(event, current) && unsent(current).length === 0) end()
      }}
    >
      <div class="dialog" tabIndex={-1}>
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" disabled={busy?.value === true} onClick={end}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
