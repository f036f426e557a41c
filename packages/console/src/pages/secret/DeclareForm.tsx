import {
  type DeclaredKey,
  maxOwnerLength,
  maxPatternLength,
  maxTextLength,
  type RequiredIn
} from "@coffer/domain/secrets/DeclaredKey"
import type { ProjectPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { envNameForm } from "@coffer/domain/base/NameForms"
import type { SecretKey } from "@coffer/domain/base/Names"
import { type Signal, useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { Dialog } from "../../kit/Dialog.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { noteDone } from "../../state/Done.js"

export type KeyPath = ProjectPath & { readonly key: SecretKey }

interface FormProps {
  readonly path: KeyPath
  readonly declared: DeclaredKey | null
  readonly close: () => void
  readonly changed: () => void
}

const namesIn = (text: string) => text.split(/[\s,]+/).filter((name) => name !== "")

const textOf = ({ required_in }: Pick<DeclaredKey, "required_in">): string =>
  required_in === "*" ? "*" : required_in.join(", ")

/** An empty field is not declared. */
const written = (text: Signal<string>) => (text.value === "" ? undefined : text.value)

const remove = (path: KeyPath) => call("declared", (api) => api.delete({ path }))

/** Declares a key as it was. */
const restore = (path: KeyPath, { description, example, owner, pattern, required_in }: DeclaredKey) =>
  call("declared", (api) =>
    api.set({ path, payload: { required_in, ...defined({ description, example, owner, pattern }) } })
  )

/** The form that declares a key. */
export const DeclareForm = ({ changed, close, declared, path }: FormProps) => {
  const required = useSignal(declared === null ? "" : textOf(declared))
  const pattern = useSignal(declared?.pattern ?? "")
  const description = useSignal(declared?.description ?? "")
  const example = useSignal(declared?.example ?? "")
  const owner = useSignal(declared?.owner ?? "")
  const act = useAct()
  const names = namesIn(required.value)
  const isEverywhere = names.length === 1 && names[0] === "*"
  const bad = isEverywhere ? [] : names.filter((name) => !envNameForm.is(name))
  const submit = (event: Event) => {
    event.preventDefault()
    if (bad.length > 0) return
    const required_in: RequiredIn = isEverywhere ? "*" : names.filter((name) => envNameForm.is(name))
    const payload = {
      required_in,
      ...defined({
        pattern: written(pattern),
        description: written(description),
        example: written(example),
        owner: written(owner)
      })
    }
    act.run(
      call("declared", (api) => api.set({ path, payload })),
      () => {
        changed()
        noteDone(`${path.key} is declared.`, { effect: undo, done: changed })
      }
    )
  }
  const undo = declared === null ? remove(path) : restore(path, declared)
  return (
    <Dialog title={`Declare ${path.key}`} busy={act.isBusy} close={close}>
      <form onSubmit={submit}>
        <TextField
          label="Required in"
          text={required}
          placeholder="prod, staging"
          isBad={bad.length > 0}
          hint="Names of environments, or * for all. Empty: nowhere."
        />
        <TextField
          label="Pattern"
          text={pattern}
          maxLength={maxPatternLength}
          hint="A regular expression (RE2) for the whole value."
        />
        <TextField label="Description" text={description} maxLength={maxTextLength} />
        <TextField
          label="Example"
          text={example}
          maxLength={maxTextLength}
          hint="Everyone who may list keys sees it."
        />
        <TextField label="Owner" text={owner} maxLength={maxOwnerLength} />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          {declared !== null && (
            <ConfirmButton
              label="Declare no longer"
              title={`Declare ${path.key} no longer`}
              verb="Declare no longer"
              isDisabled={act.isBusy.value}
              effect={remove(path)}
              done={() => {
                changed()
                noteDone(`${path.key} is declared no longer.`, { effect: restore(path, declared), done: changed })
              }}
            >
              <p>Its pattern, description, example and owner are gone, and no environment requires it. Values stay.</p>
            </ConfirmButton>
          )}
          <button class="primary" disabled={act.isBusy.value || bad.length > 0}>
            Declare
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
