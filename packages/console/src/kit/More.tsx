import { type Signal, useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { Failure } from "../client/Calls.js"
import { type Action, useAct } from "./Act.js"
import { Problem } from "./Problem.js"

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: { readonly next_cursor: string | null }
}

/** The pages of a list after its first. */
export interface More<A> {
  readonly rows: Signal<ReadonlyArray<A>>
  /** Undefined until a page after the first has been read. */
  readonly cursor: Signal<string | null | undefined>
  readonly act: Action
  readonly restart: () => void
}

/** Keeps the pages that a person asks for. Another name is another list, which starts with its first page. */
export const useMore = <A,>(name: string): More<A> => {
  const rows = useSignal<ReadonlyArray<A>>([])
  const cursor = useSignal<string | null | undefined>(undefined)
  const act = useAct()
  const restart = () => {
    rows.value = []
    cursor.value = undefined
  }
  useEffect(restart, [name])
  return { rows, cursor, act, restart }
}

interface MoreButtonProps<A> {
  readonly first: Page<A>
  readonly more: More<A>
  readonly read: (after: string) => Effect.Effect<Page<A>, Failure>
  readonly children: ComponentChildren
}

/** Reads the next page of a list, as long as there is one. */
export const MoreButton = <A,>({ children, first, more: { act, cursor, rows }, read }: MoreButtonProps<A>) => {
  const next = cursor.value === undefined ? first.pagination.next_cursor : cursor.value
  return (
    <>
      {next !== null && (
        <p>
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(read(next), (page) => {
                rows.value = [...rows.value, ...page.data]
                cursor.value = page.pagination.next_cursor
              })
            }}
          >
            {children}
          </button>
        </p>
      )}
      <Problem failure={act.failure.value} />
    </>
  )
}
