import { useSignal } from "@preact/signals"
import type { NameForm } from "@coffer/domain/base/NameForms"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { Problem } from "./Problem.js"
import { TextField } from "./TextField.js"

interface RenameProps<Name extends string, A, E> {
  readonly what: string
  readonly name: Name
  readonly form: NameForm<Name>
  /** The consequences of a new name. */
  readonly hint: string
  /** The right that is missing, in words; null if none is. */
  readonly why: string | null
  readonly rename: (name: Name) => Effect.Effect<A, E>
  readonly done: (renamed: A) => void
}

/** Gives a thing another name. */
export const Rename = <Name extends string, A, E extends Failure>(props: RenameProps<Name, A, E>) => {
  const { done, form, hint, name, rename, what, why } = props
  const text = useSignal<string>(name)
  const act = useAct()
  const next = text.value
  const isGood = form.is(next)
  if (why !== null) return <p class="quiet">To rename it, one {why}.</p>
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        if (form.is(next)) act.run(rename(next), done)
      }}
    >
      <TextField label={`Name of the ${what}`} text={text} maxLength={form.maxLength} isBad={!isGood} hint={hint} />
      <button disabled={act.isBusy.value || !isGood || next === name}>Rename</button>
      <Problem failure={act.failure.value} />
    </form>
  )
}
