import { cover, query, setQuery } from "../routing/Router.js"

/** The dialog of a page that the address names, as `?new` or `?member=…` does. */
export interface Opened {
  /** The thing that it is about, such as an id; null: it is not open. */
  readonly value: string | null
  readonly open: (value?: string) => void
  readonly close: () => void
}

/** Returns the dialog that a parameter of the address opens. Back closes it, a reload opens it again, and its address can be sent. */
export const useOpened = (name: string): Opened => ({
  value: query.value.get(name),
  open: (value = "1") => {
    cover()
    setQuery(name, value)
  },
  close: () => {
    setQuery(name, null)
  }
})
