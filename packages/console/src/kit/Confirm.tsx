import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { Dialog } from "./Dialog.js"
import { DialogButtons } from "./DialogButtons.js"

interface ConfirmProps<A, E> {
  readonly title: string
  /** The word on the button that does it, such as `Revoke`. */
  readonly verb: string
  readonly effect: Effect.Effect<A, E>
  readonly close: () => void
  readonly done: (value: A) => void
  /** The consequences, as sentences. */
  readonly children: ComponentChildren
}

/** Asks before something is done that ends or stops what others rely on. */
export const Confirm = <A, E extends Failure>({ children, close, done, effect, title, verb }: ConfirmProps<A, E>) => {
  const act = useAct()
  return (
    <Dialog title={title} busy={act.isBusy} close={close}>
      {children}
      <DialogButtons
        act={act}
        close={close}
        word={verb}
        kind="danger"
        decide={() => {
          act.run(effect, (value) => {
            close()
            done(value)
          })
        }}
      />
    </Dialog>
  )
}

interface ConfirmButtonProps<A, E> extends Omit<ConfirmProps<A, E>, "close"> {
  /** The words on the button that opens the question. */
  readonly label: ComponentChildren
  readonly isDisabled?: boolean
}

/** A button that asks first. */
export const ConfirmButton = <A, E extends Failure>(props: ConfirmButtonProps<A, E>) => {
  const { isDisabled = false, label, ...rest } = props
  const isOpen = useSignal(false)
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => (isOpen.value = true)}>
        {label}
      </button>
      {isOpen.value && <Confirm {...rest} close={() => (isOpen.value = false)} />}
    </>
  )
}
