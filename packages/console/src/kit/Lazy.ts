import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"

/** Loads a part of the page that few people need, when it is first wanted. */
export const useLazy = <Props>(
  isWanted: boolean,
  load: () => Promise<ComponentType<Props>>,
  failed: () => void = () => {}
): { readonly Part: ComponentType<Props> } | null => {
  const loaded = useSignal<{ readonly Part: ComponentType<Props> } | null>(null)
  useEffect(() => {
    if (!isWanted || loaded.peek() !== null) return
    load().then((Part) => {
      loaded.value = { Part }
    }, failed)
  }, [isWanted])
  return loaded.value
}
