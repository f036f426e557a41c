import { useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import type { Failure } from "../client/Calls.js"
import { DeleteDialog } from "./Delete.js"
import { Menu, MenuItem } from "./Menu.js"

interface RowMenuProps<A, E> {
  /** The word for what the row shows, such as "rotation". */
  readonly what: string
  readonly name: string
  readonly remove: Effect.Effect<A, E>
  readonly done: () => void
  /** The consequences of its deletion, in words. */
  readonly consequences: string
  /** Its other actions. */
  readonly children?: ComponentChildren
}

/** The actions of a row; the last one deletes what the row shows, after its name was typed. */
export const RowMenu = <A, E extends Failure>({ children, consequences, ...deletion }: RowMenuProps<A, E>) => {
  const isEnding = useSignal(false)
  const { name } = deletion
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        {children}
        <MenuItem run={() => (isEnding.value = true)}>
          Delete<span class="hidden"> {name}</span>
        </MenuItem>
      </Menu>
      {isEnding.value && (
        <DeleteDialog {...deletion} close={() => (isEnding.value = false)}>
          <p>{consequences}</p>
        </DeleteDialog>
      )}
    </>
  )
}
