import type { ReadonlySignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Loaded } from "./Load.js"

interface Polled {
  readonly loaded: ReadonlySignal<Loaded<unknown>>
  readonly reload: () => void
}

/** Refusals that stay: each further try would be recorded as another one. */
export const lastingFailures: ReadonlySet<string> = new Set(["Forbidden", "NotFound", "Unauthorized"])

/** Reads again and again while the page is visible and the person has the right. `null` pauses. */
export const usePoll = ({ loaded, reload }: Polled, millis: number | null, ...dependencies: ReadonlyArray<unknown>) => {
  useEffect(() => {
    if (millis === null) return
    const timer = setInterval(() => {
      const { failure, isLoading } = loaded.peek()
      if (!document.hidden && !isLoading && !lastingFailures.has(failure?._tag ?? "")) reload()
    }, millis)
    return () => {
      clearInterval(timer)
    }
  }, [millis, ...dependencies])
}
