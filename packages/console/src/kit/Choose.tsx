import { useId } from "preact/hooks"

interface ChooseProps<Word extends string> {
  readonly label: string
  readonly value: Word
  readonly words: ReadonlyArray<Word>
  readonly isLabelHidden?: boolean
  readonly disabled?: boolean
  readonly choose: (word: Word) => void
}

/** One word of several. */
export const Choose = <Word extends string>(props: ChooseProps<Word>) => {
  const { choose, disabled = false, isLabelHidden = false, label, value, words } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "hidden" : undefined}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => {
          const word = words.find((one) => one === currentTarget.value)
          if (word !== undefined) choose(word)
        }}
      >
        {words.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </div>
  )
}
