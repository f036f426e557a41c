import type { ComponentChildren } from "preact"
import { navigate } from "./Router.js"

interface LinkProps {
  readonly to: string
  readonly class?: string
  /** Whether the link leads to where the page is. */
  readonly isCurrent?: boolean
  /** -1 where the keyboard reaches the link in another way. */
  readonly tabIndex?: -1
  /** Opens it in another way than by a new page: a dialog of the same page. */
  readonly open?: () => void
  readonly children: ComponentChildren
}

const isPlain = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** A link within the console. */
export const Link = ({ children, class: name, isCurrent, open, tabIndex, to }: LinkProps) => (
  <a
    href={to}
    class={name}
    tabIndex={tabIndex}
    aria-current={isCurrent === true ? "page" : undefined}
    onClick={(event) => {
      if (!isPlain(event)) return
      event.preventDefault()
      if (open === undefined) navigate(to)
      else open()
    }}
  >
    {children}
  </a>
)
