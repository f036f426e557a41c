import { computed, signal } from "@preact/signals"
import { placeOf } from "./Places.js"

const addressNow = () => location.pathname + location.search

const address = signal(addressNow())

export const currentAddress = (): string => address.peek()

const url = computed(() => new URL(address.value, location.origin))

/** The place that the address names; null: none. */
export const place = computed(() => placeOf(url.value.pathname))

export const query = computed(() => url.value.searchParams)

/** Opens an address. With `replace`, it takes the place of the current one in the history. */
export const navigate = (to: string, options: { readonly replace?: boolean } = {}): void => {
  if (options.replace === true) history.replaceState(null, "", to)
  else history.pushState(null, "", to)
  address.value = addressNow()
}

/** Sets one parameter of the address, without an entry in the history. */
export const setQuery = (name: string, value: string | null): void => {
  const next = new URL(location.href)
  if (value === null) next.searchParams.delete(name)
  else next.searchParams.set(name, value)
  navigate(next.pathname + next.search, { replace: true })
}

export const watchAddress = (): void => {
  addEventListener("popstate", () => {
    address.value = addressNow()
  })
}
