import type { Connection } from "@coffer/domain/secrets/Connection"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { MenuItem } from "../../kit/Menu.js"
import { By } from "../../kit/Person.js"
import { Problem } from "../../kit/Problem.js"
import { RowMenu } from "../../kit/RowMenu.js"
import { noteDone } from "../../state/Done.js"
import type { EnvPath } from "./RenewalRead.js"

interface ConnectionProps {
  readonly path: EnvPath
  readonly connection: Connection
  readonly changed: () => void
}

/** A program that the server logs in to. */
export const ConnectionRow = ({ changed, connection, path }: ConnectionProps) => {
  const act = useAct()
  const { created_at, created_by, database, host, kind, name, password_key, port, tls, user } = connection
  const at = { ...path, connection_name: name }
  const test = () => {
    act.run(
      call("connections", (api) => api.test({ path: at })),
      ({ may_change, may_create, ok, problem, version }) =>
        noteDone(
          ok
            ? `${name}: logged in to ${version ?? kind}. The user ${may_create ? "may" : "may not"} create users, and ${may_change ? "may" : "may not"} change passwords.`
            : `${name}: ${problem ?? "the login failed"}.`
        )
    )
  }
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {kind}{" "}
        <span class="key">
          {user}@{host}:{port}/{database}
        </span>{" "}
        <span class="quiet">{tls}</span>
        <Problem failure={act.failure.value} />
      </td>
      <td>
        <code>{password_key}</code>
      </td>
      <td>
        <By time={created_at} who={created_by} />
      </td>
      <td class="actions">
        <RowMenu
          what="connection"
          name={name}
          remove={call("connections", (api) => api.delete({ path: at }))}
          done={changed}
          consequences="The secret with its password stays. Rotations and roles that use the connection must be deleted first."
        >
          <MenuItem run={test} why={act.isBusy.value ? "a test runs" : null}>
            Test<span class="hidden"> {name}</span>
          </MenuItem>
        </RowMenu>
      </td>
    </tr>
  )
}
