import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { placementText } from "@coffer/domain/secrets/PlacementText"
import type { UseRule } from "@coffer/domain/secrets/UseRule"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { AllowUse } from "./AllowUse.js"
import { Table } from "../../kit/Table.js"
import { Visible } from "../../kit/Visible.js"

interface RuleProps {
  readonly path: SecretPath
  readonly rule: UseRule
  readonly changed: () => void
}

const limitsOf = ({ max_kib, per_day, per_minute, response }: UseRule): string =>
  `${per_minute} a minute, ${per_day} a day; returns ${response === "status" ? "the status alone" : `${response}, at most ${max_kib} KiB`}`

const Revoke = ({ changed, close, path, rule }: RuleProps & { readonly close: () => void }) => {
  const act = useAct()
  return (
    <Dialog title="Revoke a use rule" busy={act.isBusy} close={close}>
      <p>
        {rule.accounts.join(", ")} can no longer use <strong>{path.key}</strong> at {rule.hosts.join(", ")}. Requests
        that are under way still end.
      </p>
      <DialogButtons
        act={act}
        close={close}
        word="Revoke"
        kind="danger"
        decide={() => {
          act.run(
            call("useRules", (api) => api.delete({ path: { ...path, use_rule_id: rule.id } })),
            changed
          )
        }}
      />
    </Dialog>
  )
}

const Row = (props: RuleProps) => {
  const { rule } = props
  const isOpen = useSignal(false)
  const accounts = rule.accounts.join(", ")
  return (
    <tr>
      <th scope="row">
        <Visible text={accounts} />{" "}
        {rule.approval === "each" && <span class="badge warn">each request is approved</span>}
      </th>
      <td>
        {rule.hosts.map((host) => (
          <div key={host}>
            <code>{host}</code>
          </div>
        ))}
        <span class="quiet">
          {rule.methods.join(", ")} {rule.paths.join(" ")}
        </span>
      </td>
      <td>{placementText(rule.place)}</td>
      <td class="quiet">
        {limitsOf(rule)}
        {rule.expires_at !== null && `; until ${rule.expires_at}`}
      </td>
      <td class="actions">
        <button type="button" onClick={() => (isOpen.value = true)}>
          Revoke<span class="hidden"> the use by {accounts}</span>
        </button>
        {isOpen.value && <Revoke {...props} close={() => (isOpen.value = false)} />}
      </td>
    </tr>
  )
}

const Rules = ({ path }: { readonly path: SecretPath }) => {
  const isOpen = useSignal(false)
  const rules = useLoad(`${path.env_name}/${path.key}`, () =>
    Effect.map(
      call("useRules", (api) => api.list({ path })),
      ({ data }) => data
    )
  )
  return (
    <>
      <Reading of={rules}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">Nobody may use it without seeing it.</p>
          ) : (
            <Table label="Use rules" heads={["Who", "Requests", "The value goes into", "Limits", ""]}>
              {found.map((rule) => (
                <Row key={rule.id} path={path} rule={rule} changed={rules.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Allow a use
      </button>
      {isOpen.value && (
        <AllowUse
          path={path}
          close={() => (isOpen.value = false)}
          done={() => {
            isOpen.value = false
            rules.reload()
          }}
        />
      )}
    </>
  )
}

/** The rules on the use of a secret in requests of the server by callers who do not see it. */
export const UseRules = ({ env, path }: { readonly env: MatrixEnvironment; readonly path: SecretPath }) => (
  <section aria-labelledby="secret-uses">
    <h2 id="secret-uses">Use without seeing</h2>
    {env.allowed.includes("admin") ? (
      <>
        <p>The server makes these requests and puts the value in. The caller gets the response, never the value.</p>
        <Rules path={path} />
      </>
    ) : (
      <p class="quiet">
        To see and change its use rules, one needs a rule with the permission admin for {path.env_name}, and the role
        developer.
      </p>
    )}
  </section>
)
