import { envNameForm } from "@coffer/domain/base/NameForms"
import type { EnvName } from "@coffer/domain/base/Names"
import { useEffect } from "preact/hooks"
import { environmentsOf } from "../../client/Environments.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { query, setQuery } from "../../routing/Router.js"
import { forgetPicked } from "../../staging/Picked.js"
import type { PageProps } from "../PageProps.js"
import { Choice } from "./Choice.js"
import "./Page.css"

const envOf = (name: string): EnvName | null => {
  const env = query.value.get(name) ?? ""
  return envNameForm.is(env) ? env : null
}

interface PickProps {
  readonly name: "from" | "to"
  readonly label: string
  readonly value: EnvName | null
  readonly names: ReadonlyArray<EnvName>
}

const Pick = ({ label, name, names, value }: PickProps) => (
  <label class="promote-pick">
    {label}{" "}
    <select
      value={value ?? ""}
      onChange={({ currentTarget }) => {
        setQuery(name, currentTarget.value)
      }}
    >
      {names.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  </label>
)

/** Two environments side by side: chooses keys of the one and copies them to the other, without reading a value. */
export const Page = ({ place }: PageProps<"project">) => {
  const names = useLoad(`${place.org}/${place.project}`, () => environmentsOf(place.org, place.project))
  useEffect(() => forgetPicked, [])
  return (
    <section class="narrow">
      <h1>Promote</h1>
      <p>
        Copies secrets from one environment to another. No value is shown, and nothing is written before the review.
      </p>
      <Reading of={names}>
        {(environments) => {
          const found = environments.map(({ name }) => name)
          const from = envOf("from") ?? found.find((name) => /^stag/.test(name)) ?? found[0] ?? null
          const to = envOf("to") ?? found.find((name) => name !== from && /^prod/.test(name)) ?? found[1] ?? null
          const isProtected = environments.some((one) => one.name === to && one.protected === true)
          return (
            <>
              <div class="row promote-places">
                <Pick name="from" label="From" value={from} names={found} />
                <span aria-hidden="true">→</span>
                <Pick name="to" label="To" value={to} names={found} />
              </div>
              {from === null || to === null || from === to ? (
                <p class="hint">Choose two environments.</p>
              ) : (
                <Choice key={`${from} ${to}`} place={place} from={from} to={to} isProtected={isProtected} />
              )}
            </>
          )
        }}
      </Reading>
    </section>
  )
}
