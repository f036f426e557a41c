import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { ConfirmByName } from "./ConfirmByName.js"
import { Problem } from "./Problem.js"

interface DeleteProps<A, E> {
  readonly what: string
  readonly name: string
  /** The right that is missing, in words; null if none is. */
  readonly why: string | null
  readonly remove: Effect.Effect<A, E>
  readonly done: () => void
  /** The consequences. */
  readonly children: ComponentChildren
}

/** A button that deletes a thing, after its name was typed. */
export const Delete = <A, E extends Failure>({ children, done, name, remove, what, why }: DeleteProps<A, E>) => {
  const isOpen = useSignal(false)
  const act = useAct()
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={why !== null}
        title={why ?? undefined}
        onClick={() => (isOpen.value = true)}
      >
        Delete<span class="hidden"> {`the ${what} ${name}`}</span>
      </button>
      {isOpen.value && (
        <ConfirmByName
          title={`Delete the ${what} ${name}`}
          name={name}
          verb="Delete"
          busy={act.isBusy}
          close={() => (isOpen.value = false)}
          confirm={() => {
            act.run(remove, done)
          }}
        >
          {children}
          <Problem failure={act.failure.value} />
        </ConfirmByName>
      )}
    </>
  )
}
