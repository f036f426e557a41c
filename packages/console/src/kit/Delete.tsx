import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { ConfirmByName } from "./ConfirmByName.js"
import { Problem } from "./Problem.js"

interface DeleteDialogProps<A, E> {
  readonly what: string
  readonly name: string
  readonly verb?: string
  readonly title?: string
  readonly remove: Effect.Effect<A, E>
  readonly done: () => void
  readonly close: () => void
  /** The consequences. */
  readonly children: ComponentChildren
}

/** Deletes a thing, after its name was typed. */
export const DeleteDialog = <A, E extends Failure>(props: DeleteDialogProps<A, E>) => {
  const { children, close, done, name, remove, verb = "Delete", what } = props
  const act = useAct()
  return (
    <ConfirmByName
      title={props.title ?? `${verb} the ${what} ${name}`}
      name={name}
      verb={verb}
      busy={act.isBusy}
      close={close}
      confirm={() => {
        act.run(remove, done)
      }}
    >
      {children}
      <Problem failure={act.failure.value} />
    </ConfirmByName>
  )
}

interface DeleteProps<A, E> extends Omit<DeleteDialogProps<A, E>, "close"> {
  /** The right that is missing, in words; null if none is. */
  readonly why: string | null
}

/** A button that deletes a thing, for the block of a page that is about its end. */
export const Delete = <A, E extends Failure>({ why, ...props }: DeleteProps<A, E>) => {
  const isOpen = useSignal(false)
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={why !== null}
        title={why ?? undefined}
        onClick={() => (isOpen.value = true)}
      >
        Delete<span class="hidden"> {`the ${props.what} ${props.name}`}</span>
      </button>
      {isOpen.value && <DeleteDialog {...props} close={() => (isOpen.value = false)} />}
    </>
  )
}
