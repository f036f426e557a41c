import type { ComponentChildren } from "preact"

interface CheckProps {
  readonly isChecked: boolean
  readonly isDisabled?: boolean
  readonly choose: (isChecked: boolean) => void
  /** The words beside the box. */
  readonly children: ComponentChildren
}

/** A checkbox with its label. */
export const Check = ({ children, choose, isChecked, isDisabled = false }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isChecked}
      disabled={isDisabled}
      onChange={({ currentTarget }) => {
        choose(currentTarget.checked)
      }}
    />
    <span>{children}</span>
  </label>
)
