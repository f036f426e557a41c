import type { Signal } from "@preact/signals"
import { useId } from "preact/hooks"

interface TextAreaProps {
  readonly label: string
  readonly text: Signal<string>
  readonly rows: number
  readonly placeholder?: string
  readonly hint?: string
}

/** Lines of text with their label. */
export const TextArea = ({ hint, label, placeholder, rows, text }: TextAreaProps) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={text.value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  )
}
