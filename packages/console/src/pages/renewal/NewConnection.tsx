import { body } from "@coffer/domain/base/Schemas"
import { connectionKinds, newConnection } from "@coffer/domain/secrets/Connection"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { decodeForm } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { TextArea } from "../../kit/TextArea.js"
import { TextField } from "../../kit/TextField.js"
import { useTexts } from "../../kit/Texts.js"
import { noteDone } from "../../state/Done.js"
import { type KindField, kindFields } from "./ConnectionKinds.js"
import type { FormProps } from "./RenewalRead.js"

const NewConnectionBody = body(newConnection)

type Kind = (typeof connectionKinds)[number]
const kinds: ReadonlyArray<Kind> = connectionKinds

const labels = { name: "Name", host: "Host", port: "Port", database: "Database", user: "User", ca: "Certificates" }

/** Adds a program that the server logs in to. Nothing is tried before a test, a turn or a lease. */
export const NewConnection = ({ close, done, path }: FormProps) => {
  const kind = useSignal<Kind>(connectionKinds[0])
  const { given, textOf, typed } = useTexts()
  const act = useAct()
  const fields = kindFields[kind.value]
  const inputOf = ({ isNumber, name, words }: KindField) => {
    if (words !== undefined) return { [name]: textOf(name).value || words[0] }
    // Its lines are certificates, each with its end.
    return given(name, isNumber === true ? Number : (text) => (name === "ca" ? `${text}\n` : text))
  }
  const made = decodeForm(
    NewConnectionBody,
    Object.assign(
      { name: typed("name"), kind: kind.value, password_key: typed("password_key") },
      ...fields.map(inputOf)
    ),
    { ...labels, password_key: "Key of the password" }
  )
  const needed = fields.filter(({ isOptional, words }) => isOptional !== true && words === undefined)
  return (
    <FormDialog
      title="New connection"
      verb="Create"
      act={act}
      close={close}
      made={made}
      isBegun={["name", "password_key", ...needed.map(({ name }) => name)].every((name) => typed(name) !== "")}
      submit={(payload) => {
        const { name } = payload
        act.run(
          call("connections", (api) => api.create({ path, payload })),
          () => {
            close()
            done()
            noteDone(`The connection ${name} was added.`, {
              effect: call("connections", (api) => api.delete({ path: { ...path, connection_name: name } })),
              done
            })
          }
        )
      }}
    >
      <p>The server logs in there to replace passwords, or to make users for callers.</p>
      <TextField label="Name" text={textOf("name")} placeholder="shop-db" maxLength={50} />
      {kinds.length > 1 && (
        <Choose label="Kind" value={kind.value} words={kinds} choose={(next) => (kind.value = next)} />
      )}
      {fields.map(({ example, hint, label, name, rows, words }) => {
        if (words !== undefined) {
          const value = textOf(name).value || (words[0] ?? "")
          return (
            <Choose
              key={name}
              label={label}
              value={value}
              words={words}
              choose={(next) => (textOf(name).value = next)}
            />
          )
        }
        const field = {
          label,
          text: textOf(name),
          ...(example !== undefined && { placeholder: example }),
          ...(hint !== undefined && { hint })
        }
        return rows === undefined ? <TextField key={name} {...field} /> : <TextArea key={name} rows={rows} {...field} />
      })}
      <TextField
        label="Key of the password"
        text={textOf("password_key")}
        placeholder="RENEWAL_PASSWORD"
        hint={`a secret of ${path.env_name}, which is read at each use`}
      />
    </FormDialog>
  )
}
