import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { wallMillis } from "../../state/ServerTime.js"

/** How long something still waits. */
export const TimeLeft = ({ until }: { readonly until: string }) => {
  const left = useSignal(Date.parse(until) - wallMillis())
  useEffect(() => {
    const timer = setInterval(() => (left.value = Date.parse(until) - wallMillis()), 1_000)
    return () => {
      clearInterval(timer)
    }
  }, [until])
  const seconds = Math.max(0, Math.round(left.value / 1_000))
  return (
    <span class="quiet">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")} left
    </span>
  )
}
