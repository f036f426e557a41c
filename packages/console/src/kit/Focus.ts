/** The dialogs that are open. */
export const openDialogs = (): ReadonlyArray<Element> => [...document.querySelectorAll("dialog[open]")]

/** The element that had the focus last. */
let last: Element | null = null

document.addEventListener("focusin", ({ target }) => {
  last = target instanceof Element ? target : null
})

const isUsable = (element: Element): element is HTMLElement =>
  element instanceof HTMLElement && element.isConnected && !element.matches(":disabled")

/** Gives a lost focus to the dialog that is open, or else to the page. */
const focusWhatIsLeft = (): void => {
  const dialog = openDialogs().at(-1)?.querySelector<HTMLElement>(".dialog")
  ;(dialog ?? document.getElementById("page"))?.focus({ preventScroll: true })
}

const isLost = (): boolean => document.activeElement === document.body

/** Keeps the focus after what was drawn next: an element that is removed loses it. */
export const keepFocus = (): void => {
  requestAnimationFrame(() => {
    if (isLost() && last?.isConnected === false) focusWhatIsLeft()
  })
}

/** Gives the focus back to what was pressed: a button that is disabled while its action runs loses it. */
export const returnFocus = (pressed: Element | null): void => {
  if (pressed === null || pressed === document.body) return
  requestAnimationFrame(() => {
    if (!isLost()) return
    if (isUsable(pressed)) pressed.focus({ preventScroll: true })
    else focusWhatIsLeft()
  })
}
