import { body } from "@coffer/domain/base/Schemas"
import type { Connection } from "@coffer/domain/secrets/Connection"
import { leaseRoleDefaults, newLeaseRole } from "@coffer/domain/secrets/LeaseRole"
import { defaultSql } from "@coffer/domain/secrets/SqlTemplate"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { decodeForm } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { TextArea } from "../../kit/TextArea.js"
import { TextField } from "../../kit/TextField.js"
import { useTexts } from "../../kit/Texts.js"
import { noteDone } from "../../state/Done.js"
import { ChooseConnection } from "./ChooseConnection.js"
import type { FormProps } from "./RenewalRead.js"

const NewRoleBody = body(newLeaseRole)

const labels = {
  ...{ name: "Name", connection: "Connection", default_ttl: "Lasts", max_ttl: "Lasts at most" },
  ...{ create: "Makes a user", revoke: "Removes it" }
}

const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line.trim() !== "")

interface NewRoleProps extends FormProps {
  readonly connections: ReadonlyArray<Connection>
}

/** Lets callers have users of a database of their own. */
export const NewRole = ({ close, connections, done, path }: NewRoleProps) => {
  const connection = useSignal(connections[0]?.name ?? "")
  const { given, textOf, typed } = useTexts({ ...leaseRoleDefaults })
  const act = useAct()
  const kind = connections.find(({ name }) => name === connection.value)?.kind ?? "postgres"
  const made = decodeForm(
    NewRoleBody,
    {
      ...{ name: typed("name"), connection: connection.value, ...given("default_ttl"), ...given("max_ttl") },
      ...{ ...given("create", linesOf), ...given("revoke", linesOf) }
    },
    labels
  )
  return (
    <FormDialog
      title="New role"
      verb="Create"
      act={act}
      close={close}
      made={made}
      isBegun={typed("name") !== ""}
      submit={(payload) => {
        const { name } = payload
        act.run(
          call("leaseRoles", (api) => api.create({ path, payload })),
          () => {
            close()
            done()
            noteDone(`The role ${name} was added: coffer run --lease takes users of it.`, {
              effect: call("leaseRoles", (api) => api.delete({ path: { ...path, role_name: name } })),
              done
            })
          }
        )
      }}
    >
      <p>{`Everyone who may read values in ${path.env_name} may then lease a user that these statements make.`}</p>
      <TextField label="Name" text={textOf("name")} placeholder="app-role" maxLength={50} />
      <ChooseConnection connections={connections} of={connection} />
      <TextField label="Lasts" text={textOf("default_ttl")} hint="unless the caller says so: 1m to 30d" />
      <TextField label="Lasts at most" text={textOf("max_ttl")} hint="with all renewals" />
      <details>
        <summary>Statements</summary>
        <TextArea
          label="Makes a user"
          rows={4}
          text={textOf("create")}
          placeholder={defaultSql[kind].create.join("\n")}
          hint="A statement on each line, with {{name}}, {{password}} and {{expires}}, which the server quotes. Empty: as shown."
        />
        <TextArea
          label="Removes it"
          rows={4}
          text={textOf("revoke")}
          placeholder={defaultSql[kind].revoke.join("\n")}
          hint="With {{name}}. Its sessions are ended before."
        />
      </details>
    </FormDialog>
  )
}
