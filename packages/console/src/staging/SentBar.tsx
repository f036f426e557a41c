import { type Signal, useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useAct } from "../kit/Act.js"
import { RefusedList } from "./RefusedList.js"
import { type ProjectPlace, type Refused, type Sent, undoWrite } from "./Writes.js"

interface SentBarProps {
  readonly place: ProjectPlace
  readonly sent: Signal<ReadonlyArray<Sent>>
  readonly reload: () => void
}

/** The writes that were just made, with an undo. */
export const SentBar = ({ place, reload, sent }: SentBarProps) => {
  const act = useAct()
  const refused = useSignal<ReadonlyArray<Refused>>([])
  const writes = sent.value
  if (writes.length === 0) return null
  const undo = (write: Sent) =>
    Effect.map(undoWrite(place, write), (result) => {
      if (result.type === "refused") refused.value = [...refused.peek(), result]
      else sent.value = sent.peek().filter(({ env }) => env !== write.env)
    })
  return (
    <div class="action-bar sent" role="status">
      <span>
        Written to <strong>{writes.map(({ env }) => env).join(", ")}</strong>.
      </span>
      <RefusedList refused={refused.value} what="was not changed back" />
      <span class="space" />
      <button
        type="button"
        disabled={act.isBusy.value}
        onClick={() => {
          refused.value = []
          act.run(Effect.forEach(writes, undo), reload)
        }}
      >
        Undo
      </button>
      <button
        type="button"
        class="plain"
        onClick={() => {
          refused.value = []
          sent.value = []
        }}
      >
        Dismiss
      </button>
    </div>
  )
}
