import { useEffect, useRef } from "preact/hooks"

/** Tells whether a part of the page is still open when an answer arrives that it has asked for. */
export const useStillOpen = (): (() => boolean) => {
  const isOpen = useRef(true)
  useEffect(
    () => () => {
      isOpen.current = false
    },
    []
  )
  return () => isOpen.current
}
