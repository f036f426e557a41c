import type { Federation } from "@coffer/domain/directory/Federation"
import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useRef } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { Expiry } from "./Expiry.js"
import { FederationForm, type Trusted } from "./FederationForm.js"
import { KeylessLines } from "./KeylessLines.js"
import { TryToken } from "./TryToken.js"
import { Visible } from "../../kit/Visible.js"

interface OfAccount {
  readonly org: OrgName
  readonly account: ServiceAccount
}

interface RowProps extends OfAccount {
  readonly federation: Federation
  readonly changed: () => void
}

const Row = ({ account, changed, federation, org }: RowProps) => {
  const { conditions, created_by, expires_at, id, issuer, key_ids, last_used_at, max_age, name, ttl } = federation
  const isAsked = useSignal(false)
  const act = useAct()
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="accounts-conditions">
        <span class="quiet">{issuer}</span>
        {Object.entries(conditions).map(([pointer, value]) => (
          <code key={pointer}>
            <Visible text={`${pointer} = ${value}`} />
          </code>
        ))}
        <span class="quiet">
          {key_ids === null ? "" : `keys of its own: ${key_ids.map((kid) => kid ?? "without an id").join(", ")}; `}
          tokens up to {max_age} s old, sessions of {ttl} s, added by {created_by}
        </span>
      </td>
      <td class="quiet">{last_used_at === null ? "never" : <When time={last_used_at} />}</td>
      <td>{expires_at === null ? <span class="quiet">never</span> : <Expiry time={expires_at} />}</td>
      <td class="actions">
        <button type="button" onClick={() => (isAsked.value = true)}>
          Revoke<span class="hidden"> the federation {name}</span>
        </button>
        {isAsked.value && (
          <ConfirmByName
            title={`Revoke a federation of ${account.name}`}
            name={name}
            verb="Revoke"
            busy={act.isBusy}
            close={() => (isAsked.value = false)}
            confirm={() => {
              act.run(
                call("federations", (api) =>
                  api.revoke({ path: { org_name: org, sa_id: account.id, federation_id: id } })
                ),
                changed
              )
            }}
          >
            <p>Its sessions end at once, and no token of {issuer} lets the account sign in by it.</p>
            <Problem failure={act.failure.value} />
          </ConfirmByName>
        )}
      </td>
    </tr>
  )
}

const read = ({ account, org }: OfAccount) =>
  Effect.map(
    call("federations", (api) => api.list({ path: { org_name: org, sa_id: account.id } })),
    ({ data }) => data
  )

type Open = "list" | "new" | "try"

/** Whose tokens an account signs in with, without a stored key. */
export const Federations = ({ account, close, org }: OfAccount & { readonly close: () => void }) => {
  const open = useSignal<Open | Trusted>("list")
  const content = useRef<HTMLDivElement>(null)
  const found = useLoad(account.id, () => read({ account, org }))
  const shown = open.value
  const show = (next: Open | Trusted) => {
    open.value = next
    // The button that was pressed is gone.
    content.current?.focus()
  }
  return (
    <Dialog title={`How ${account.name} signs in without a key`} class="wide" close={close}>
      <div ref={content} tabIndex={-1}>
        {shown === "list" ? (
          <Reading of={found}>
            {(federations) => (
              <>
                {federations.length === 0 ? (
                  <p class="quiet">{account.name} signs in with its key alone.</p>
                ) : (
                  <Table label="Federations" heads={["Name", "Tokens", "Last use", "Expires", ""]}>
                    {federations.map((federation) => (
                      <Row
                        key={federation.id}
                        org={org}
                        account={account}
                        federation={federation}
                        changed={found.reload}
                      />
                    ))}
                  </Table>
                )}
                <footer>
                  {federations.length > 0 && (
                    <button
                      type="button"
                      onClick={() => {
                        show("try")
                      }}
                    >
                      Try a token
                    </button>
                  )}
                  <button
                    type="button"
                    class="primary"
                    onClick={() => {
                      show("new")
                    }}
                  >
                    Add a CI system or cluster
                  </button>
                </footer>
              </>
            )}
          </Reading>
        ) : (
          <>
            <p>
              <button
                type="button"
                class="plain"
                onClick={() => {
                  show("list")
                }}
              >
                ← All federations of {account.name}
              </button>
            </p>
            {shown === "new" ? (
              <FederationForm
                org={org}
                account={account}
                done={(made) => {
                  show(made)
                  found.reload()
                }}
              />
            ) : shown === "try" ? (
              <TryToken org={org} account={account} />
            ) : (
              <KeylessLines org={org} account={account} made={shown} />
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}
