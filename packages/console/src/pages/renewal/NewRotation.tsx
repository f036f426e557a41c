import { body } from "@coffer/domain/base/Schemas"
import type { Connection } from "@coffer/domain/secrets/Connection"
import { newRotation, rotationDefaults } from "@coffer/domain/secrets/Rotation"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { TextField } from "../../kit/TextField.js"
import { useTexts } from "../../kit/Texts.js"
import { noteDone } from "../../state/Done.js"
import { ChooseConnection } from "./ChooseConnection.js"
import type { FormProps } from "./RenewalRead.js"
import { fitting, RotationFields, rotationLabels, windowIn, writesIn } from "./RotationFields.js"

const NewRotationBody = body(newRotation)

interface NewRotationProps extends FormProps {
  readonly connections: ReadonlyArray<Connection>
}

/** Lets the server replace a password on a schedule. */
export const NewRotation = ({ close, connections, done, path }: NewRotationProps) => {
  const connection = useSignal(connections[0]?.name ?? "")
  const texts = useTexts({ every: rotationDefaults.every })
  const { given, textOf, typed } = texts
  const act = useAct()
  const users = wordsOf(typed("users"))
  const window = windowIn(texts)
  const made = Either.flatMap(
    decodeForm(
      NewRotationBody,
      {
        ...{ name: typed("name"), connection: connection.value, users, writes: writesIn(texts) },
        ...{ ...given("every"), ...given("length", Number), ...given("alphabet") },
        ...(window !== null && { window })
      },
      rotationLabels
    ),
    (one) => fitting(one.alphabet ?? rotationDefaults.alphabet)(one, users)
  )
  return (
    <FormDialog
      title="New rotation"
      verb="Create"
      act={act}
      close={close}
      made={made}
      isBegun={["name", "users", "writes"].every((name) => typed(name) !== "")}
      submit={(payload) => {
        const { name } = payload
        act.run(
          call("rotations", (api) => api.create({ path, payload })),
          () => {
            close()
            done()
            noteDone(
              `The rotation ${name} was added. Its first turn is after ${payload.every ?? rotationDefaults.every}.`,
              {
                effect: call("rotations", (api) => api.delete({ path: { ...path, rotation_name: name } })),
                done
              }
            )
          }
        )
      }}
    >
      <TextField label="Name" text={textOf("name")} placeholder="shop-app" maxLength={50} />
      <ChooseConnection connections={connections} of={connection} />
      <TextField
        label="Users"
        text={textOf("users")}
        placeholder="app_a app_b"
        hint={
          users.length === 1
            ? "With one user, programs that have not read the new password fail to log in after a turn."
            : "Two take turns, so that no running program breaks: first the one that programs use now."
        }
      />
      <RotationFields texts={texts} />
      <details>
        <summary>Passwords</summary>
        <TextField label="Length" text={textOf("length")} placeholder={String(rotationDefaults.length)} />
        <TextField label="Characters" text={textOf("alphabet")} hint="letters and digits without it" />
      </details>
    </FormDialog>
  )
}
