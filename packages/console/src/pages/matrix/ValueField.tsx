import type { Signal } from "@preact/signals"
import type { Ref } from "preact"
import { useId } from "preact/hooks"
import { invisibleIn } from "../../kit/Invisible.js"

interface ValueFieldProps {
  readonly id: string
  /** Names the environment. */
  readonly label: string
  readonly isLabelHidden?: boolean
  readonly text: Signal<string>
  readonly rows: number
  readonly placeholder?: string
  readonly field?: Ref<HTMLTextAreaElement>
  /** Called when the person types. */
  readonly changed?: () => void
  /** Called on Enter. Shift and Enter break the line. */
  readonly enter: () => void
}

/** The field of a value. Enter never becomes a part of it, and what of the value is not seen is said below. */
export const ValueField = (props: ValueFieldProps) => {
  const { changed, enter, field, id, isLabelHidden = false, label, placeholder, rows, text } = props
  const noteId = useId()
  const note = invisibleIn(text.value)
  const lines = /\n+$/.exec(text.value)
  return (
    <>
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <textarea
        id={id}
        ref={field ?? null}
        rows={rows}
        value={text.value}
        spellcheck={false}
        autocomplete="off"
        placeholder={placeholder}
        aria-describedby={note === null ? undefined : noteId}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          changed?.()
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
          event.preventDefault()
          enter()
        }}
      />
      <div role="status">
        {note !== null && (
          <p id={noteId} class="hint value-note">
            The value {note}.{" "}
            {lines !== null && (
              <button
                type="button"
                class="plain"
                onClick={() => {
                  text.value = text.peek().replace(/\n+$/, "")
                  changed?.()
                }}
              >
                Remove {lines[0].length === 1 ? "it" : "them"}
                <span class="hidden"> at the end of {label}</span>
              </button>
            )}
          </p>
        )}
      </div>
    </>
  )
}
