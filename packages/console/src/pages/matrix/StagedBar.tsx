import { batch } from "@preact/signals"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { Effect } from "effect"
import { type Sent, takeBack } from "../../staging/Sending.js"
import { countOf, nothingStaged } from "../../staging/Staged.js"
import type { Model } from "./Model.js"

const plural = (count: number, what: string) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

interface BarProps {
  readonly model: Model
  readonly reload: () => void
}

/** What was just sent, and the way back. */
const SentBar = ({ model, reload }: BarProps) => {
  const act = useAct()
  const sent = model.sent.value
  return (
    <div class="matrix-bar sent" role="status">
      <span>
        Written to <strong>{sent.map(({ env }) => env).join(", ")}</strong>.
      </span>
      <Problem failure={act.failure.value} />
      <span class="space" />
      <button
        type="button"
        disabled={act.isBusy.value}
        onClick={() => {
          // Each settles alone: what was taken back is not offered again.
          const one = (write: Sent) =>
            Effect.map(takeBack(model.place, write), () => {
              model.sent.value = model.sent.peek().filter(({ env }) => env !== write.env)
            })
          act.run(Effect.ensuring(Effect.forEach(sent, one), Effect.sync(reload)), () => undefined)
        }}
      >
        Undo
      </button>
      <button
        type="button"
        class="plain"
        onClick={() => {
          model.sent.value = []
        }}
      >
        Dismiss
      </button>
    </div>
  )
}

/** How much is staged, and what to do with it. */
export const StagedBar = ({ model, reload }: BarProps) => {
  const staged = model.staging.staged.value
  const count = countOf(staged)
  if (count === 0) return model.sent.value.length === 0 ? null : <SentBar model={model} reload={reload} />
  return (
    <div class="matrix-bar" role="status">
      <span>
        <strong>{plural(count, "change")} staged</strong>
        <span class="quiet">
          {" "}
          {[...staged].map(([env, { changes }]) => `${env} ${changes.size.toLocaleString("en")}`).join(" · ")}
        </span>
      </span>
      <span class="space" />
      <button
        type="button"
        onClick={() => {
          batch(() => {
            model.staging.change(() => nothingStaged)
          })
        }}
      >
        Discard
      </button>
      <button
        type="button"
        class="primary"
        onClick={() => {
          model.open.value = { type: "review" }
        }}
      >
        Review and write
      </button>
    </div>
  )
}
