import { batch } from "@preact/signals"
import { useState } from "preact/hooks"
import { cover, isCovered, query, setQuery } from "../routing/Router.js"

/** The dialog of a page that the address names, as `?new` or `?member=…` does. */
export interface Opened {
  /** The thing that it is about, such as an id; null: it is not open. */
  readonly value: string | null
  readonly open: (value?: string) => void
  readonly close: () => void
}

/** Returns the dialog that a parameter of the address opens. Back closes it, a reload opens it again, and its address can be sent. */
export const useOpened = (name: string): Opened => {
  const open = (value = "1") => {
    batch(() => {
      setQuery(name, null)
      cover()
      setQuery(name, value)
    })
  }
  const value = query.value.get(name)
  // A link to it: the entry before is the page without it.
  useState(() => {
    if (value !== null && !isCovered()) open(value === "" ? undefined : value)
  })
  return {
    value,
    open,
    close: () => {
      setQuery(name, null)
    }
  }
}
