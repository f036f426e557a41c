import type { PlannedEnv } from "@coffer/domain/formats/tools/ImportPlan"
import type { PlannedKey } from "@coffer/domain/formats/tools/KeyPlan"
import { InvisibleValues } from "./InvisibleValues.js"
import { withoutOption } from "./Messages.js"

const maxShown = 20

interface KeysProps {
  readonly title: string
  readonly class: string
  readonly keys: ReadonlyArray<PlannedKey>
  readonly say: (key: PlannedKey) => string
}

/** A list that may scroll, also by the keyboard. */
const Keys = ({ class: name, keys, say, title }: KeysProps) => (
  <ul class={name} tabIndex={0} aria-label={title}>
    {keys.slice(0, maxShown).map((one) => (
      <li key={`${one.line} ${one.path}`}>
        <span class="quiet">Line {one.line}</span> <span class="key">{one.path}</span> {say(one)}
      </li>
    ))}
    {keys.length > maxShown && <li>and {(keys.length - maxShown).toLocaleString("en")} more</li>}
  </ul>
)

const List = (props: KeysProps) =>
  props.keys.length === 0 ? null : (
    <>
      <p class="import-title">{props.title}</p>
      <Keys {...props} />
    </>
  )

const whyOf = ({ why = "" }: PlannedKey): string => withoutOption(why)

const storedOf = ({ references, stored }: PlannedKey): string =>
  stored === "resolved"
    ? `is stored as the value that ${references.join(", ")} led to`
    : `keeps ${references.join(", ")} as text`

const notesOf = ({ notes }: PlannedKey): string => notes.join("; ")

/** Remarks on the keys of an environment. No value is shown. */
export const Remarks = ({ planned: { env, keys, references, set } }: { readonly planned: PlannedEnv }) => {
  const left = keys.filter(({ state }) => state === "left")
  return (
    <>
      <List
        title={`Not storable in ${env}`}
        class="import-mistakes"
        keys={keys.filter(({ state }) => state === "unsupported")}
        say={whyOf}
      />
      <List
        title={`References that are not translated in ${env}`}
        class="import-remarks"
        keys={keys.filter(({ references }) => references.length > 0)}
        say={storedOf}
      />
      <List
        title={`Values of ${env} to look at`}
        class="import-remarks"
        keys={keys.filter(({ notes }) => notes.length > 0)}
        say={notesOf}
      />
      <InvisibleValues secrets={new Map([...set, ...references])} />
      {left.length > 0 && (
        <details class="more import-left">
          <summary>
            {left.length.toLocaleString("en")} left out of {env}
          </summary>
          <Keys title={`Left out of ${env}`} class="import-remarks" keys={left} say={whyOf} />
        </details>
      )}
    </>
  )
}
