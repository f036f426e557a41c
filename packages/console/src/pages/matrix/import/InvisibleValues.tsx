import type { SecretMap } from "@coffer/domain/formats/Reading"
import * as Redacted from "effect/Redacted"
import { invisibleIn } from "../../../kit/Invisible.js"

const maxShown = 20

/** The keys whose values have characters that are not seen, and which these are. No value is shown. */
export const InvisibleValues = ({ secrets }: { readonly secrets: SecretMap }) => {
  const found = [...secrets].flatMap(([key, value]) => {
    const note = invisibleIn(Redacted.value(value))
    return note === null ? [] : [{ key, note }]
  })
  if (found.length === 0) return null
  return (
    <ul class="import-remarks" tabIndex={0} aria-label="Characters that are not seen">
      {found.slice(0, maxShown).map(({ key, note }) => (
        <li key={key}>
          The value of <span class="key">{key}</span> {note}.
        </li>
      ))}
      {found.length > maxShown && <li>and {(found.length - maxShown).toLocaleString("en")} more</li>}
    </ul>
  )
}
