import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import type { NameForm } from "@coffer/domain/base/NameForms"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { Dialog } from "./Dialog.js"
import { Problem } from "./Problem.js"

interface CreateFormProps<Name extends string, A, E> {
  /** The kind of thing to create, such as `project`. */
  readonly what: string
  readonly example: string
  readonly form: NameForm<Name>
  /** Whether it is what the page is for: then the keyboard is in it at once. */
  readonly isFirst?: boolean
  readonly create: (name: Name) => Effect.Effect<A, E>
  readonly done: (made: A) => void
  /** Closes the dialog that the form is in. */
  readonly close?: () => void
}

/** Makes something that has a name. */
export const CreateForm = <Name extends string, A, E extends Failure>(props: CreateFormProps<Name, A, E>) => {
  const { close, create, done, example, form, isFirst = false, what } = props
  const name = useSignal("")
  const act = useAct()
  const text = name.value
  const id = `new-${what}`
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (isFirst) input.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (form.is(text)) act.run(create(text), done)
  }
  const field = (
    <input
      id={id}
      ref={input}
      class={close && "wide"}
      value={text}
      placeholder={example}
      autocomplete="off"
      spellcheck={false}
      maxLength={form.maxLength}
      aria-describedby={`${id}-rule`}
      onInput={({ currentTarget }) => {
        name.value = currentTarget.value
        act.clear()
      }}
    />
  )
  const button = (
    <button class="primary" disabled={act.isBusy.value || !form.is(text)}>
      Create
    </button>
  )
  return (
    <form class="create" onSubmit={submit}>
      <label for={id}>Name of the {what}</label>
      {close === undefined ? (
        <div class="row">
          {field}
          {button}
        </div>
      ) : (
        field
      )}
      <p id={`${id}-rule`} class={text === "" || form.is(text) ? "hint" : "hint bad"}>
        {form.characters}.
      </p>
      <Problem failure={act.failure.value} />
      {close !== undefined && (
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          {button}
        </footer>
      )}
    </form>
  )
}

/** The dialog that makes something that has a name. */
export const CreateDialog = <Name extends string, A, E extends Failure>(
  props: CreateFormProps<Name, A, E> & { readonly close: () => void }
) => (
  <Dialog title={`New ${props.what}`} close={props.close}>
    <CreateForm {...props} />
  </Dialog>
)
