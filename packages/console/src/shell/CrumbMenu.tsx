import { ChevronsUpDown } from "lucide"
import { useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { Icon } from "../kit/Icon.js"
import { hasWords } from "../kit/Words.js"
import { useLoad } from "../kit/Load.js"
import { Popover } from "../kit/Menu.js"
import { Reading } from "../kit/Reading.js"
import { Link } from "../routing/Link.js"
import { navigate } from "../routing/Router.js"

interface Choice {
  readonly name: string
  readonly to: string
}

interface CrumbMenuProps<E> {
  /** The kind of thing that it chooses, such as `project`. */
  readonly what: string
  readonly current: string
  /** Names the list: another one is read anew. */
  readonly list: string
  readonly read: () => Effect.Effect<ReadonlyArray<Choice>, E>
}

const Choices = <E extends Failure>({ current, list, read, what }: CrumbMenuProps<E>) => {
  const typed = useSignal("")
  const choices = useLoad(list, read)
  return (
    <Reading of={choices}>
      {(all) => {
        const found = all.filter(({ name }) => hasWords(name, typed.value))
        return (
          <>
            <input
              type="search"
              aria-label={`Find a ${what}`}
              placeholder={`Find a ${what}`}
              autocomplete="off"
              spellcheck={false}
              value={typed.value}
              onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
              onKeyDown={({ currentTarget, key }) => {
                const [first] = found
                if (key !== "Enter" || first === undefined) return
                currentTarget.closest<HTMLElement>("[popover]")?.hidePopover()
                navigate(first.to)
              }}
              ref={(field) => field?.focus()}
            />
            <div class="choices">
              {found.map(({ name, to }) => (
                <Link key={name} to={to} class="menu-item" isCurrent={name === current}>
                  {name}
                </Link>
              ))}
              {found.length === 0 && <p class="menu-note quiet">No {what} has this name.</p>}
            </div>
          </>
        )
      }}
    </Reading>
  )
}

/** Beside a crumb: the others of its kind, which are found by typing. They are read when it opens. */
export const CrumbMenu = <E extends Failure>(props: CrumbMenuProps<E>) => {
  const isOpened = useSignal(0)
  return (
    <Popover
      label={`Another ${props.what}`}
      class="plain crumb-menu"
      button={<Icon of={ChevronsUpDown} />}
      opened={() => (isOpened.value += 1)}
    >
      {isOpened.value > 0 && <Choices key={isOpened.value} {...props} />}
    </Popover>
  )
}
