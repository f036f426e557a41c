import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { type Instead, useUnsent } from "../routing/Unsent.js"
import { Check } from "./Check.js"
import { CopyText } from "./CopyText.js"

interface OneTimeKeyProps {
  /** Whose key it is. */
  readonly of: string
  readonly text: string
  /** How the server keeps it. */
  readonly stored: string
  readonly what?: "key" | "token"
  /** Ends a key that nobody has stored. Left out where that would end more than the key. */
  readonly revoke?: Instead
}

/**
 * A key that the server does not show again. It stays valid whether somebody has it or not: until it was copied, or is said to
 * be stored, whoever leaves it is asked. The page forgets it with the dialog.
 */
export const OneTimeKey = ({ of, revoke, stored, text, what = "key" }: OneTimeKeyProps) => {
  const block = useRef<HTMLDivElement>(null)
  const isStored = useSignal(false)
  const note = () => (isStored.value = true)
  useUnsent({
    what: `The ${what} of ${of} was not copied yet. It is not shown again, and it stays valid.`,
    holds: () => !isStored.peek(),
    element: () => block.current,
    ...(revoke !== undefined && {
      instead: {
        ...revoke,
        done: () => {
          note()
          revoke.done()
        }
      }
    })
  })
  return (
    <div class="one-time-key" ref={block}>
      <p>
        <strong>This is the only time that the {what} is shown.</strong> {stored}
      </p>
      <code
        tabIndex={0}
        role="group"
        aria-label={`The ${what} of ${of}`}
        onCopy={() => {
          if (document.getSelection()?.toString().trim() === text) note()
        }}
      >
        {text}
      </code>
      <p class="row">
        <CopyText label={`Copy the ${what}`} text={text} copied={note} />
      </p>
      <Check isChecked={isStored.value} choose={(isChecked) => (isStored.value = isChecked)}>
        I have stored the {what}
      </Check>
    </div>
  )
}
