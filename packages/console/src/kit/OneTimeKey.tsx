import { CopyText } from "./CopyText.js"

interface OneTimeKeyProps {
  /** Whose key it is. */
  readonly of: string
  readonly text: string
  /** How the server keeps it. */
  readonly stored: string
  readonly what?: "key" | "token"
}

/** A key that the server does not show again. The page forgets it with the dialog. */
export const OneTimeKey = ({ of, stored, text, what = "key" }: OneTimeKeyProps) => (
  <div class="one-time-key">
    <p>
      <strong>This is the only time that the {what} is shown.</strong> {stored}
    </p>
    <code tabIndex={0} role="group" aria-label={`The ${what} of ${of}`}>
      {text}
    </code>
    <p class="row">
      <CopyText label={`Copy the ${what}`} text={text} />
    </p>
  </div>
)
