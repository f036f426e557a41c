/** The button or link of the first click. */
let first: Element | null = null

/**
 * Lets the second click of a double click press only what the first one has. A list moves up when the first has removed a row:
 * the second would approve, revoke or end what came beneath the pointer.
 */
export const watchDoubleClicks = (): void => {
  document.addEventListener(
    "click",
    (event) => {
      const pressed = event.target instanceof Element ? event.target.closest("button, a") : null
      if (event.detail <= 1) first = pressed
      else if (pressed !== null && pressed !== first) {
        event.preventDefault()
        event.stopPropagation()
      }
    },
    { capture: true }
  )
}
