import type { Rotation } from "@coffer/domain/secrets/Rotation"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { MenuItem } from "../../kit/Menu.js"
import { Problem } from "../../kit/Problem.js"
import { RowMenu } from "../../kit/RowMenu.js"
import { Ahead, When } from "../../kit/When.js"
import { noteDone } from "../../state/Done.js"
import type { EnvPath } from "./RenewalRead.js"

const State = ({ rotation: { failures, next_user, paused, problem, state } }: { readonly rotation: Rotation }) => (
  <>
    <span class={`badge${paused === null && problem === null ? " good" : " warn"}`}>
      {paused === null ? (problem === null ? state : "failing") : "paused"}
    </span>{" "}
    {paused?.replace(/^paused /, "") ?? problem ?? ""}
    {failures > 1 && ` · ${failures} tries`}
    {state !== "idle" && ` · turn of ${next_user}: ${state}`}
  </>
)

interface RotationProps {
  readonly path: EnvPath
  readonly rotation: Rotation
  readonly changed: () => void
  /** Opens its form. */
  readonly edit: () => void
}

/** A rotation: how its turn is, the last and the next one. */
export const RotationRow = ({ changed, edit, path, rotation }: RotationProps) => {
  const { connection, due_at, every, name, paused, rotated_at, users, writes } = rotation
  const act = useAct()
  const at = { ...path, rotation_name: name }
  const pause = (paused: boolean) => call("rotations", (api) => api.update({ path: at, payload: { paused } }))
  return (
    <tr>
      <th scope="row">
        {name} <div class="quiet">{`${users.join(", ")} by ${connection}`}</div>
      </th>
      <td>
        <span class="key">{Object.keys(writes).join(" ")}</span>
      </td>
      <td>
        <State rotation={rotation} />
        <Problem failure={act.failure.value} />
      </td>
      <td>{rotated_at === null ? <span class="quiet">never</span> : <When time={rotated_at} />}</td>
      <td>
        {paused === null && <Ahead time={due_at} />} <span class="quiet">every {every}</span>
      </td>
      <td class="actions">
        <RowMenu
          what="rotation"
          name={name}
          remove={call("rotations", (api) => api.delete({ path: at }))}
          done={changed}
          consequences="The secrets and the users in the database stay as they are, and are renewed no more."
        >
          <MenuItem
            why={paused === null ? null : "it is paused"}
            run={() => {
              act.run(
                call("rotations", (api) => api.run({ path: at })),
                () => {
                  noteDone(`A turn of ${name} begins.`)
                  changed()
                }
              )
            }}
          >
            Run now<span class="hidden"> the rotation {name}</span>
          </MenuItem>
          <MenuItem run={edit}>
            Edit<span class="hidden"> {name}</span>
          </MenuItem>
          <MenuItem
            run={() => {
              const isPaused = paused !== null
              act.run(pause(!isPaused), () => {
                noteDone(`${name} is ${isPaused ? "resumed" : "paused"}.`, { effect: pause(isPaused), done: changed })
                changed()
              })
            }}
          >
            {paused === null ? "Pause" : "Resume"}
            <span class="hidden"> {name}</span>
          </MenuItem>
        </RowMenu>
      </td>
    </tr>
  )
}
