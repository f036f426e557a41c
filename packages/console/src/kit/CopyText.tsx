import { useSignal } from "@preact/signals"

/** Copies a text, and says so. */
export const CopyText = ({ label, text }: { readonly label: string; readonly text: string }) => {
  const said = useSignal<string | null>(null)
  return (
    <>
      <button
        type="button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => (said.value = "Copied"),
            () => (said.value = "The browser does not allow it")
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
