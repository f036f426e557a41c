import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { nothingStaged, countOf } from "../../staging/Staged.js"
import { inOrder, type Model } from "./Model.js"

const plural = (count: number, what: string) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

/** How much is staged, and what to do with it. */
export const StagedBar = ({ model }: { readonly model: Model }) => {
  const staged = model.staging.staged.value
  const count = countOf(staged)
  const discarded = useSignal(0)
  useEffect(() => {
    if (count > 0) discarded.value = 0
  }, [count])
  if (count === 0) {
    return discarded.value === 0 ? null : (
      <div class="action-bar" role="status">
        <span>{plural(discarded.value, "change")} discarded.</span>
        <span class="space" />
        <button
          type="button"
          onClick={() => {
            discarded.value = 0
            model.staging.undo()
          }}
        >
          Undo
        </button>
        <button type="button" class="plain" onClick={() => (discarded.value = 0)}>
          Dismiss
        </button>
      </div>
    )
  }
  return (
    <div class="action-bar" role="status">
      <span>
        <strong>{plural(count, "change")} staged</strong>
        <span class="quiet">
          {" "}
          {[...inOrder(model, staged)]
            .map(([env, { changes }]) => `${env} ${changes.size.toLocaleString("en")}`)
            .join(" · ")}
        </span>
      </span>
      <span class="space" />
      <button
        type="button"
        onClick={() => {
          discarded.value = count
          model.staging.change(() => nothingStaged)
        }}
      >
        Discard
      </button>
      <button
        type="button"
        class="primary"
        onClick={() => {
          model.setOpen({ type: "review" })
        }}
      >
        Review and write
      </button>
    </div>
  )
}
