import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import type { NameForm } from "@coffer/domain/base/NameForms"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
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
}

/** Makes something that has a name. */
export const CreateForm = <Name extends string, A, E extends Failure>(props: CreateFormProps<Name, A, E>) => {
  const { create, done, example, form, isFirst = false, what } = props
  const name = useSignal("")
  const act = useAct()
  const text = name.value
  const id = `new-${what}`
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (isFirst) field.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (form.is(text)) act.run(create(text), done)
  }
  return (
    <form class="create" onSubmit={submit}>
      <label for={id}>Name of the {what}</label>
      <div class="row">
        <input
          id={id}
          ref={field}
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
        <button class="primary" disabled={act.isBusy.value || !form.is(text)}>
          Create
        </button>
      </div>
      <p id={`${id}-rule`} class={text === "" || form.is(text) ? "hint" : "hint bad"}>
        {form.characters}.
      </p>
      <Problem failure={act.failure.value} />
    </form>
  )
}
