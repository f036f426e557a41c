import type { Signal } from "@preact/signals"
import { useId } from "preact/hooks"

interface TextFieldProps {
  readonly label: string
  readonly text: Signal<string>
  readonly placeholder?: string
  readonly inputMode?: "email" | "text"
  /** The problem with the text, or the rule for it. */
  readonly hint?: string | undefined
  readonly isBad?: boolean
  readonly maxLength?: number
}

/** One line of text with its label. */
export const TextField = ({
  hint,
  isBad = false,
  label,
  maxLength,
  placeholder,
  text,
  inputMode = "text"
}: TextFieldProps) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        inputMode={inputMode}
        value={text.value}
        placeholder={placeholder}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isBad}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class={isBad ? "hint bad" : "hint"}>
          {hint}
        </p>
      )}
    </div>
  )
}
