import type { Target } from "@coffer/domain/secrets/Target"
import { call } from "../../client/Calls.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import type { EnvPath } from "./TargetsRead.js"
import { StateBadge } from "./TargetState.js"

interface CheckProps {
  readonly path: EnvPath
  readonly target: Target
  readonly close: () => void
}

/** Asks the platform what has become of what was pushed. */
export const CheckDialog = ({ close, path, target: { name } }: CheckProps) => {
  const check = useLoad(name, () => call("targets", (api) => api.check({ path: { ...path, target_name: name } })))
  return (
    <Dialog title={`${name} at its platform`} class="wide" close={close}>
      <Reading of={check}>
        {({ data }) =>
          data.length === 0 ? (
            <p>Nothing was pushed there.</p>
          ) : (
            <>
              <Table label="Keys there" heads={["Name there", "Key", "State"]}>
                {data.map(({ key, name: there, state }) => (
                  <tr key={there}>
                    <th scope="row">
                      <code>{there}</code>
                    </th>
                    <td>
                      <code>{key}</code>
                    </td>
                    <td>
                      <StateBadge state={state} />
                    </td>
                  </tr>
                ))}
              </Table>
              {data.some(({ state }) => /there$/.test(state)) && (
                <p>Somebody else changed or removed keys there after the last push. A push repairs them.</p>
              )}
            </>
          )
        }
      </Reading>
    </Dialog>
  )
}
