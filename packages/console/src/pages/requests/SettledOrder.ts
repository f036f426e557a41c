import { type ReadonlySignal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

interface Listed {
  /** Which list it is. Another one has an order of its own. */
  readonly list: string
  readonly ids: ReadonlyArray<string>
}

interface SettledOrder {
  /** Orders cards: those that were shown keep their places, and new ones are the last. */
  readonly ordered: <A extends { readonly id: string }>(list: string, cards: ReadonlyArray<A>) => ReadonlyArray<A>
  /** The number of requests that arrived while others were shown, in words. */
  readonly arrived: ReadonlySignal<string | null>
}

const arrivedText = (count: number): string =>
  count === 1 ? "A new request waits: the last one." : `${count} new requests wait: the last ones.`

/** Keeps cards where they are while their list is polled: a person who is about to approve one must not press another. */
export const useSettledOrder = (): SettledOrder => {
  const shown = useRef<Listed>({ list: "", ids: [] })
  const seen = useRef<Listed>(shown.current)
  const arrived = useSignal<string | null>(null)
  // Each time: the cards are known when they are drawn.
  useEffect(() => {
    const { ids, list } = shown.current
    const before = seen.current
    if (before === shown.current) return
    seen.current = shown.current
    const count = ids.filter((id) => !before.ids.includes(id)).length
    if (before.list !== list) arrived.value = null
    else if (before.ids.length > 0 && count > 0) arrived.value = arrivedText(count)
  })
  return {
    arrived,
    ordered: (list, cards) => {
      const known = shown.current.list === list ? shown.current.ids : []
      const placeOf = ({ id }: { readonly id: string }) => {
        const index = known.indexOf(id)
        return index === -1 ? known.length : index
      }
      const all = [...cards].sort((one, other) => placeOf(one) - placeOf(other))
      const ids = all.map(({ id }) => id)
      if (shown.current.list !== list || ids.join() !== shown.current.ids.join()) shown.current = { list, ids }
      return all
    }
  }
}
