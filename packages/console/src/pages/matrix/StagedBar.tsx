import { nothingStaged, countOf } from "../../staging/Staged.js"
import { inOrder, type Model } from "./Model.js"

const plural = (count: number, what: string) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

/** How much is staged, and what to do with it. */
export const StagedBar = ({ model }: { readonly model: Model }) => {
  const staged = model.staging.staged.value
  const count = countOf(staged)
  if (count === 0) return null
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
          model.staging.change(() => nothingStaged)
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
