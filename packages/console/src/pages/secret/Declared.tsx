import type { DeclaredKey } from "@coffer/domain/secrets/DeclaredKey"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { Fold } from "../../kit/Fold.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { missingInOrg } from "../../client/Organizations.js"
import { Visible } from "../../kit/Visible.js"
import type { KeyPath } from "./DeclareForm.js"

const DeclareForm = later(async () => (await import("./DeclareForm.js")).DeclareForm)

const requiredText = ({ required_in }: DeclaredKey): string =>
  `Required ${required_in === "*" ? "everywhere" : required_in.length === 0 ? "nowhere" : `in ${required_in.join(", ")}`}.`

const Said = ({ declared }: { readonly declared: DeclaredKey }) => {
  const { description, example, owner, pattern } = declared
  return (
    <>
      {description !== undefined && (
        <p style={{ whiteSpace: "pre-line" }}>
          <Visible text={description} />
        </p>
      )}
      <p class="quiet">
        {requiredText(declared)}
        {pattern !== undefined && " The value matches "}
        {pattern !== undefined && (
          <code>
            <Visible text={pattern} />
          </code>
        )}
        {pattern !== undefined && "."}
        {example !== undefined && " For example "}
        {example !== undefined && (
          <code>
            <Visible text={example} />
          </code>
        )}
        {example !== undefined && "."}
        {owner !== undefined && (
          <>
            {" "}
            Owner: <Visible text={owner} />.
          </>
        )}
      </p>
    </>
  )
}

/** The project's declaration of a key, and the form that changes it. */
export const Declared = ({ path }: { readonly path: KeyPath }) => {
  const isOpen = useSignal(false)
  const found = useLoad(`${path.project_name}/${path.key}`, () =>
    Effect.map(
      call("declared", (api) => api.list({ path })),
      ({ data }) => ({ declared: data.find(({ key }) => key === path.key) ?? null })
    )
  )
  const whyNot = missingInOrg(path.org_name, "declared.set")
  return (
    <Reading of={found}>
      {({ declared }) => (
        <Fold
          title="Declared"
          summary={declared === null ? "The project does not declare this key." : requiredText(declared)}
        >
          {declared !== null && <Said declared={declared} />}
          {whyNot === null && (
            <button type="button" onClick={() => (isOpen.value = true)}>
              {declared === null ? "Declare" : "Change"}
              <span class="hidden"> what is declared</span>
            </button>
          )}
          {isOpen.value && (
            <DeclareForm
              path={path}
              declared={declared}
              close={() => (isOpen.value = false)}
              changed={() => {
                isOpen.value = false
                found.reload()
              }}
            />
          )}
        </Fold>
      )}
    </Reading>
  )
}
