import { useSignal } from "@preact/signals"

/** Rejects where there is no clipboard: browsers give it only to pages that are served over https. */
const copy = async (text: string): Promise<void> => navigator.clipboard.writeText(text)

const refused = (): string =>
  isSecureContext
    ? "The browser does not allow it: mark the text and copy it."
    : "Browsers copy only on pages that are served over https: mark the text and copy it."

interface CopyTextProps {
  readonly label: string
  readonly text: string
  /** Called when the text was copied. */
  readonly copied?: () => void
}

/** Copies a text, and says so. */
export const CopyText = ({ copied, label, text }: CopyTextProps) => {
  const said = useSignal<string | null>(null)
  return (
    <>
      <button
        type="button"
        onClick={() => {
          copy(text).then(
            () => {
              said.value = "Copied"
              copied?.()
            },
            () => (said.value = refused())
          )
        }}
      >
        {label}
      </button>
      <span role="status" class="quiet">
        {said.value}
      </span>
    </>
  )
}

/** An id, a key or another text that is for programs: monospace, and copied by a button. */
export const Copyable = ({ text }: { readonly text: string }) => (
  <span class="copyable">
    <code>{text}</code> <CopyText label="Copy" text={text} />
  </span>
)
