import { type ReadonlySignal, useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import { useEffect, useRef } from "preact/hooks"
import type { Failure } from "../client/Calls.js"
import { start } from "../client/Run.js"
import { keepFocus } from "./Focus.js"

/** The state of a read on a page. A value stays while it is read again. */
export interface Loaded<A> {
  readonly value: A | null
  readonly failure: Failure | null
  readonly isLoading: boolean
}

/** Reads when a page opens, and again when `name` changes or `reload` is called. */
export const useLoad = <A, E extends Failure>(
  name: string,
  read: () => Effect.Effect<A, E>
): { readonly loaded: ReadonlySignal<Loaded<A>>; readonly reload: () => void } => {
  const loaded = useSignal<Loaded<A>>({ value: null, failure: null, isLoading: true })
  const latest = useRef(read)
  latest.current = read
  const stop = useRef<() => void>(() => {})

  const begin = (before: A | null) => {
    stop.current()
    // Beside a value, a failure stays until the next outcome: lists that are polled would announce it each time.
    const failure = before === null ? null : loaded.peek().failure
    loaded.value = { value: before, failure, isLoading: true }
    stop.current = start(latest.current(), (outcome) => {
      if (outcome === null) return
      loaded.value =
        "value" in outcome
          ? { value: outcome.value, failure: null, isLoading: false }
          : { value: before, failure: outcome.failure, isLoading: false }
      keepFocus()
    })
  }

  useEffect(() => {
    begin(null)
    return () => {
      stop.current()
    }
  }, [name])

  return {
    loaded,
    reload: () => {
      begin(loaded.peek().value)
    }
  }
}
