import { ClipboardPaste } from "lucide"
import { FirstSteps } from "../../kit/FirstSteps.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { Icon } from "../../kit/Icon.js"
import { WhomToAsk } from "../../kit/WhomToAsk.js"
import { firstRun } from "../../state/FirstRun.js"
import type { Model } from "./Model.js"
import { DeletedChip } from "./Toolbar.js"

/** A project without secrets: how to get some in. */
export const EmptyMatrix = ({ model }: { readonly model: Model }) => {
  const { columns } = model.grid.value
  const { org, project } = model.place
  const canRead = columns.some((column) => column.canRead)
  const first = columns.find(({ canWrite }) => canWrite)
  const isFirstRun = firstRun.value?.org === org
  return (
    <div class="first-run">
      {isFirstRun && first !== undefined && <FirstSteps at="Secrets" />}
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
          <button
            type="button"
            class="drop-here"
            onClick={() => {
              model.setOpen({ type: "import", env: first.name, text: "", file: "" })
            }}
          >
            <Icon of={ClipboardPaste} />
            <strong>
              Paste a .env<span class="quiet"> with Ctrl V, or drop a file anywhere</span>
            </strong>
            <span class="quiet">
              dotenv, JSON, YAML, or what Doppler, Infisical, Vault and others print. You see what it would create
              before anything is written.
            </span>
          </button>
          <div class="row">
            <button
              type="button"
              onClick={() => {
                model.setOpen({ type: "new", key: "" })
              }}
            >
              New key
            </button>
            <span class="quiet">for one secret, typed or generated</span>
            <span class="space" />
            <DeletedChip model={model} />
          </div>
          <p class="hint">
            Its environments are {columns.map(({ name }) => name).join(", ")}. From a terminal:{" "}
            <code>coffer import .env -e {first.name}</code>
          </p>
        </>
      )}
    </div>
  )
}
