import { body } from "@coffer/domain/base/Schemas"
import { changedRotation, type Rotation } from "@coffer/domain/secrets/Rotation"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { decodeForm } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { useTexts } from "../../kit/Texts.js"
import { noteDone } from "../../state/Done.js"
import type { FormProps } from "./RenewalRead.js"
import { fitting, RotationFields, rotationLabels, startOf, windowIn, writesIn } from "./RotationFields.js"

const Body = body(changedRotation)

interface EditRotationProps extends FormProps {
  readonly rotation: Rotation
}

/** Changes what a rotation writes, and when. */
export const EditRotation = ({ close, done, path, rotation }: EditRotationProps) => {
  const { alphabet, name, users } = rotation
  const texts = useTexts(startOf(rotation))
  const act = useAct()
  const change = (input: unknown) =>
    Either.flatMap(decodeForm(Body, input, rotationLabels), (one) => fitting(alphabet)(one, users))
  const set = (payload: Either.Either.Right<ReturnType<typeof change>>) =>
    call("rotations", (api) => api.update({ path: { ...path, rotation_name: name }, payload }))
  const before = change({ writes: rotation.writes, every: rotation.every, window: rotation.window })
  return (
    <FormDialog
      title={`Rotation ${name}`}
      verb="Save"
      act={act}
      close={close}
      made={change({ writes: writesIn(texts), every: texts.typed("every"), window: windowIn(texts) })}
      isBegun
      submit={(payload) => {
        act.run(set(payload), () => {
          close()
          done()
          noteDone(
            `The rotation ${name} was changed.`,
            Either.isRight(before) ? { effect: set(before.right), done } : undefined
          )
        })
      }}
    >
      <p>
        The users {users.join(" and ")} stay. What is written changes with the next turn; the secrets are as they are
        until then.
      </p>
      <RotationFields texts={texts} />
    </FormDialog>
  )
}
