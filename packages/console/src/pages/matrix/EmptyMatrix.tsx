import { AskAccess } from "../../kit/AskAccess.js"
import { WhomToAsk } from "../../kit/WhomToAsk.js"
import type { Model } from "./Model.js"
import { DeletedChip } from "./Toolbar.js"

/** A project without secrets: how to get some in. */
export const EmptyMatrix = ({ model }: { readonly model: Model }) => {
  const { columns } = model.grid.value
  const { org, project } = model.place
  const canRead = columns.some((column) => column.canRead)
  const first = columns.find(({ canWrite }) => canWrite)
  return (
    <div class="empty">
      <h2>{canRead ? `${project} has no secrets yet` : `You have no access to ${project} yet`}</h2>
      {first === undefined ? (
        <>
          <p>{canRead ? "To write some, one needs a rule with the permission write." : "An access rule gives it."}</p>
          <WhomToAsk org={org} />
          <AskAccess
            org={org}
            project={project}
            envs={columns.map(({ name }) => name)}
            permission={canRead ? "write" : "read"}
          />
        </>
      ) : (
        <>
          <p>
            Paste your <code>.env</code> with <kbd>Ctrl V</kbd>, or drop it anywhere on this page. Nothing is written
            before you have seen what would change. Its environments are {columns.map(({ name }) => name).join(", ")}.
          </p>
          <div class="row">
            <button
              type="button"
              class="primary"
              onClick={() => {
                model.setOpen({ type: "import", env: first.name, text: "", file: "" })
              }}
            >
              Paste a .env
            </button>
            <button
              type="button"
              onClick={() => {
                model.setOpen({ type: "new", key: "" })
              }}
            >
              New key
            </button>
            <DeletedChip model={model} />
          </div>
          <p class="hint">
            From a terminal: <code>coffer secret import .env --env {first.name}</code>
          </p>
        </>
      )}
    </div>
  )
}
