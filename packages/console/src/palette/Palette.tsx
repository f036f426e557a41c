import { useSignal } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { Dialog } from "../kit/Dialog.js"
import { useLoad } from "../kit/Load.js"
import { usePoll } from "../kit/Poll.js"
import { place } from "../routing/Router.js"
import { isInvitedTo, isJoined, organizations } from "../client/Organizations.js"
import { type Command, pageCommands } from "../kit/Commands.js"
import "./Palette.css"
import { firstOrgs, foundKeys } from "./FoundKeys.js"
import { foundPeople, foundPlaces, knownPlaces } from "./PlaceCommands.js"
import { recentPlaces } from "./Recent.js"
import { distinct, partsOf, search } from "./Search.js"

/** The time until keys are searched for once more where the server could not. */
const retryMillis = 2_000

interface PaletteProps {
  readonly close: () => void
  /** The text that was typed already. */
  readonly first: string
}

/** Finds any place, key, person and action by name. */
export const Palette = ({ close, first }: PaletteProps) => {
  const here = useMemo(() => place.peek(), [])
  // The page publishes them after it is drawn, which may be after the palette has opened.
  const actions = pageCommands.value
  const known = useMemo(() => knownPlaces(here), [])
  const recent = useMemo(recentPlaces, [])
  const more = useLoad("places", () => foundPlaces(here))
  const typed = useSignal(first)
  const text = typed.value.trim()
  const orgs = organizations.value.filter(isJoined).map(({ name }) => name)
  const open = here === null || here.at === "server" || isInvitedTo(here.org) ? null : here.org
  const maxOrgs = useSignal(firstOrgs)
  const searched = [...orgs.filter((org) => org === open), ...orgs.filter((org) => org !== open)].slice(
    0,
    maxOrgs.value
  )
  const keys = useLoad(`${maxOrgs.value} ${typed.value}`, () => foundKeys(open, searched, typed.value))
  const { isLoading, value } = keys.loaded.value
  usePoll(keys, value?.isCut === true ? retryMillis : null)
  // Once something is typed: most who open the palette go to a place.
  const people = useLoad(text === "" ? "" : `people ${maxOrgs.value}`, () => foundPeople(text === "" ? [] : searched))
  const rest = orgs.length - searched.length
  const active = useSignal(0)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
  }, [])

  const offered = [
    ...actions,
    ...known,
    ...(more.loaded.value.value ?? []),
    ...(value?.commands ?? []),
    ...(people.loaded.value.value ?? [])
  ]
  const sections = [
    ...(text === "" && recent.length > 0 ? [{ heading: "Recent", commands: recent }] : []),
    ...search(distinct(offered), typed.value)
  ]
  const found = sections.flatMap(({ commands }) => commands)
  const at = Math.min(active.value, found.length - 1)
  const choose = (command: Command | undefined) => {
    if (command === undefined) return
    close()
    command.run()
  }
  let index = -1
  const optionOf = (command: Command) => {
    index += 1
    return (
      <li
        key={`${command.hint} ${command.title}`}
        id={`palette-${index}`}
        role="option"
        aria-selected={index === at}
        onClick={() => {
          choose(command)
        }}
      >
        <span>
          {partsOf(command.title, text).map(({ isTyped, text: part }, at) =>
            isTyped ? <mark key={at}>{part}</mark> : part
          )}
        </span>{" "}
        <span class="quiet">{command.hint}</span>
      </li>
    )
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
        placeholder="A place, a key, a person or an action"
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
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Found">
        {sections.map(({ commands, heading }) => (
          <ul key={heading} role="group" aria-label={heading}>
            <li role="presentation" class="palette-heading" aria-hidden="true">
              {heading}
            </li>
            {commands.map(optionOf)}
          </ul>
        ))}
      </div>
      <div role="status">
        {found.length === 0 && (
          <p class="quiet">{isLoading ? "Searching…" : "Nothing that you may see has this name."}</p>
        )}
        {value?.notes.map((note) => (
          <p key={note} class="hint">
            {note}
          </p>
        ))}
        {text !== "" && rest > 0 && (
          <p class="hint">
            {rest === 1 ? "1 more organization was" : `${rest} more organizations were`} not searched for keys and
            people.{" "}
            <button type="button" class="plain" onClick={() => (maxOrgs.value = Infinity)}>
              Search {rest === 1 ? "it" : "them"} too
            </button>
          </p>
        )}
      </div>
    </Dialog>
  )
}
