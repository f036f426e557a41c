import { Ellipsis } from "lucide"
import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { Icon } from "./Icon.js"

/** Places an open menu at its button: below it, or above it where there is more room. */
const placeAt = (menu: HTMLElement, button: Element): void => {
  const { bottom, left, right, top } = button.getBoundingClientRect()
  const { height, width } = menu.getBoundingClientRect()
  const isBelow = bottom + height + 8 <= innerHeight || top < innerHeight - bottom
  const isLeft = left + width + 8 <= innerWidth && right - width < 8
  menu.style.top = `${Math.max(4, isBelow ? bottom + 4 : top - height - 4)}px`
  menu.style.left = `${Math.max(4, isLeft ? left : right - width)}px`
}

const itemsOf = (menu: Element): ReadonlyArray<HTMLElement> => [
  ...menu.querySelectorAll<HTMLElement>(":is([role^=menuitem], a, input):not(:disabled)")
]

const steps: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at - 1 + count) % count,
  Home: () => 0,
  End: (_, count) => count - 1
}

interface PopoverProps {
  /** The content of the button. */
  readonly button: ComponentChildren
  readonly label: string
  readonly class?: string
  readonly role?: "menu"
  readonly opened?: () => void
  readonly children: ComponentChildren
}

/** A button, and what it opens over the page: a press beside it, Escape or a choice closes it, and the focus is back at the button. */
export const Popover = ({ button, children, class: name, label, opened, role }: PopoverProps) => {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    // The row of a table: the key Menu, and Shift and F10, as a press of the other mouse button does elsewhere.
    const row = role === "menu" ? opener.current?.closest("tr") : null
    const press = (event: KeyboardEvent) => {
      if (event.key !== "ContextMenu" && !(event.key === "F10" && event.shiftKey)) return
      event.preventDefault()
      popover.current?.showPopover()
    }
    row?.addEventListener("keydown", press)
    return () => row?.removeEventListener("keydown", press)
  }, [])
  useLayoutEffect(() => {
    const follow = () => {
      const [menu, button] = [popover.current, opener.current]
      if (menu?.matches(":popover-open") === true && button !== null) placeAt(menu, button)
    }
    addEventListener("resize", follow)
    return () => {
      removeEventListener("resize", follow)
    }
  }, [])
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={name}
        aria-label={label}
        aria-haspopup={role ?? "dialog"}
        popovertarget={id}
        title={role === "menu" ? label : undefined}
      >
        {button}
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        class="popover"
        role={role}
        onToggle={({ currentTarget, newState }) => {
          if (newState !== "open") return
          if (opener.current !== null) placeAt(currentTarget, opener.current)
          opened?.()
          itemsOf(currentTarget)[0]?.focus()
        }}
        onClick={({ currentTarget, target }) => {
          if (target instanceof Element && target.closest("[role^=menuitem], a") !== null) currentTarget.hidePopover()
        }}
        onKeyDown={(event) => {
          const items = itemsOf(event.currentTarget)
          const step = steps[event.key]
          if (step === undefined || items.length === 0) return
          if (document.activeElement instanceof HTMLInputElement && /Home|End/.test(event.key)) return
          event.preventDefault()
          const at = items.findIndex((item) => item === document.activeElement)
          items[step(at, items.length)]?.focus()
        }}
      >
        {children}
      </div>
    </>
  )
}

/** The actions of a row or a page, behind `⋯`. */
export const Menu = ({ children, label }: { readonly label: string; readonly children: ComponentChildren }) => (
  <Popover button={<Icon of={Ellipsis} />} label={label} class="plain dots" role="menu">
    {children}
  </Popover>
)

interface MenuItemProps {
  readonly run: () => void
  /** Why it cannot be chosen; null: it can. */
  readonly why?: string | null
  /** Whether it is one of several settings, and chosen. */
  readonly isChosen?: boolean
  readonly children: ComponentChildren
}

/** An action of a menu. One that cannot be chosen says why. */
export const MenuItem = ({ children, isChosen, run, why = null }: MenuItemProps) => (
  <button
    type="button"
    class="menu-item"
    role={isChosen === undefined ? "menuitem" : "menuitemradio"}
    aria-checked={isChosen}
    disabled={why !== null}
    onClick={run}
  >
    <span>{children}</span>
    {why !== null && <span class="quiet"> {why}</span>}
  </button>
)
