import type { ReadonlySignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { Loaded } from "./Load.js"
import { Problem } from "./Problem.js"

interface ReadingProps<A> {
  readonly of: { readonly loaded: ReadonlySignal<Loaded<A>>; readonly reload: () => void }
  readonly children: (value: A) => ComponentChildren
}

/** The value that was read, a note that it is being read, or the reason why it could not be read. */
export const Reading = <A,>({ children, of }: ReadingProps<A>) => {
  const { failure, isLoading, value } = of.loaded.value
  return (
    <>
      <Problem failure={failure} retry={of.reload} />
      {value !== null && children(value)}
      {value === null && isLoading && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
    </>
  )
}
