import { useSignal } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { Dialog } from "../kit/Dialog.js"
import { useLoad } from "../kit/Load.js"
import { usePoll } from "../kit/Poll.js"
import { place } from "../routing/Router.js"
import { isInvitedTo, isJoined, organizations } from "../client/Organizations.js"
import { type Command, pageCommands } from "../kit/Commands.js"
import "./Palette.css"
import { foundKeys } from "./FoundKeys.js"
import { foundPlaces, knownPlaces } from "./PlaceCommands.js"
import { distinct, search } from "./Search.js"

/** The time until keys are searched for once more where the server could not. */
const retryMillis = 2_000

interface PaletteProps {
  readonly close: () => void
  /** The text that was typed already. */
  readonly first: string
}

/** Finds any place, key and action by name. */
export const Palette = ({ close, first }: PaletteProps) => {
  const here = useMemo(() => place.peek(), [])
  // The page publishes them after it is drawn, which may be after the palette has opened.
  const actions = pageCommands.value
  const known = useMemo(() => knownPlaces(here), [])
  const more = useLoad("places", () => foundPlaces(here))
  const typed = useSignal(first)
  const org = here === null || here.at === "server" ? null : here.org
  const orgs = organizations.value.filter(isJoined).map(({ name }) => name)
  const keys = useLoad(typed.value, () => foundKeys(isInvitedTo(org) ? null : org, orgs, typed.value))
  const { isLoading, value } = keys.loaded.value
  usePoll(keys, value?.isCut === true ? retryMillis : null)
  const active = useSignal(0)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
  }, [])

  const offered = [...actions, ...known, ...(more.loaded.value.value ?? []), ...(value?.commands ?? [])]
  const found = search(distinct(offered), typed.value)
  const at = Math.min(active.value, found.length - 1)
  const choose = (command: Command | undefined) => {
    if (command === undefined) return
    close()
    command.run()
  }
  return (
    <Dialog title="Go to" class="palette" close={close}>
      <input
        ref={field}
        class="wide"
        role="combobox"
        aria-expanded={true}
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
        aria-label="A place, a key or an action"
        placeholder="A place, a key or an action"
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          active.value = 0
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") active.value = Math.min(at + 1, found.length - 1)
          else if (event.key === "ArrowUp") active.value = Math.max(at - 1, 0)
          else if (event.key === "Enter") choose(found[at])
          else return
          event.preventDefault()
          document.getElementById(`palette-${active.peek()}`)?.scrollIntoView({ block: "nearest" })
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((command, index) => (
          <li
            key={`${command.hint} ${command.title}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => {
              choose(command)
            }}
          >
            <span>{command.title}</span> <span class="quiet">{command.hint}</span>
          </li>
        ))}
      </ul>
      <div role="status">
        {found.length === 0 && (
          <p class="quiet">{isLoading ? "Searching…" : "Nothing that you may see has this name."}</p>
        )}
        {value?.notes.map((note) => (
          <p key={note} class="hint">
            {note}
          </p>
        ))}
      </div>
    </Dialog>
  )
}
