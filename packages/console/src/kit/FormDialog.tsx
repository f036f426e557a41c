import * as Either from "effect/Either"
import type { ComponentChildren } from "preact"
import type { Action } from "./Act.js"
import { Dialog } from "./Dialog.js"
import { Problem } from "./Problem.js"

interface FormDialogProps<A> {
  readonly title: string
  readonly verb: "Allow" | "Create" | "Save"
  readonly act: Action
  readonly close: () => void
  readonly class?: string
  /** The input as the call takes it, or the problem with it. */
  readonly made: Either.Either<A, string>
  /** Whether enough is typed that its problem helps. */
  readonly isBegun: boolean
  readonly submit: (made: A) => void
  readonly children: ComponentChildren
}

/** A dialog with a form, which says in place why it cannot be sent yet, and what went wrong. */
export const FormDialog = <A,>(props: FormDialogProps<A>) => {
  const { act, children, class: name, close, isBegun, made, submit, title, verb } = props
  return (
    <Dialog title={title} class={name} busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (Either.isRight(made)) submit(made.right)
        }}
      >
        {children}
        {isBegun && Either.isLeft(made) && (
          <p class="hint bad" role="status">
            {made.left}
          </p>
        )}
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || !isBegun || Either.isLeft(made)}>
            {verb}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
