import { Search } from "lucide"
import { query, setQuery } from "../routing/Router.js"
import { Icon } from "./Icon.js"

/** The words by which a list is filtered, which the address keeps. */
export const searched = (): string => query.value.get("q") ?? ""

/** The field of a list's filter. */
export const SearchBox = ({ what }: { readonly what: string }) => (
  <label class="search">
    <Icon of={Search} />
    <span class="hidden">Filter {what}</span>
    <input
      type="search"
      placeholder="Filter"
      autocomplete="off"
      spellcheck={false}
      value={searched()}
      onInput={({ currentTarget }) => {
        setQuery("q", currentTarget.value)
      }}
    />
  </label>
)
