import type { Delegation } from "@coffer/domain/directory/Delegation"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { Confirm } from "../../kit/Confirm.js"
import { later } from "../../kit/Later.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { Visible } from "../../kit/Visible.js"
import { Ahead, When } from "../../kit/When.js"
import { placesOf } from "./DelegatedPlaces.js"

const NewDelegation = later(async () => (await import("./NewDelegation.js")).NewDelegation)

const read = Effect.map(
  Effect.suspend(() => call("delegations", (api) => api.list())),
  ({ data }) => data
)

const scopeOf = ({ keys, permission, reveal }: Delegation): string =>
  [permission, reveal || permission === "use" ? "" : "no values", keys === undefined ? "" : keys.join(", ")]
    .filter((part) => part !== "")
    .join("; ")

const Row = ({ changed, delegation }: { readonly delegation: Delegation; readonly changed: () => void }) => {
  const { expires_at, id, last_used_at, name, program } = delegation
  const isOpen = useSignal(false)
  return (
    <tr>
      <th scope="row">
        {name}
        {program !== undefined && (
          <div class="quiet">
            {program.host === undefined ? (
              <>
                <Visible text={program.name} />, which nobody vouches for
              </>
            ) : (
              `connected by ${program.host}`
            )}
          </div>
        )}
      </th>
      <td>{placesOf(delegation)}</td>
      <td class="quiet">{scopeOf(delegation)}</td>
      <td class="quiet">
        <Ahead time={expires_at} />
      </td>
      <td class="quiet">{last_used_at === null ? "never" : <When time={last_used_at} />}</td>
      <td class="actions">
        <Menu label={`Actions for the delegation to ${name}`}>
          <MenuItem run={() => (isOpen.value = true)}>
            Revoke<span class="hidden"> the delegation to {name}</span>
          </MenuItem>
        </Menu>
        {isOpen.value && (
          <Confirm
            title={`Revoke the delegation to ${name}`}
            verb="Revoke"
            effect={call("delegations", (api) => api.revoke({ path: { delegation_id: id } }))}
            close={() => (isOpen.value = false)}
            done={changed}
          >
            <p>
              Its token ends at once: what {name} runs in {placesOf(delegation)} with it is refused. It cannot be given
              back; delegate again for a new token.
            </p>
          </Confirm>
        )}
      </td>
    </tr>
  )
}

/** The parts of the person's rights that agents and scripts have. */
export const Delegations = () => {
  const delegations = useLoad("delegations", () => read)
  const isOpen = useSignal(false)
  return (
    <>
      <PageHead
        isSection
        title="Delegations"
        about={
          <>
            Parts of your rights for agents and scripts, in some environments and for some hours. On the machine where
            one is used, <code>coffer delegate</code> makes it in one step.
          </>
        }
        create={
          <button type="button" onClick={() => (isOpen.value = true)}>
            New delegation
          </button>
        }
      />
      {isOpen.value && (
        <NewDelegation
          changed={delegations.reload}
          close={() => {
            isOpen.value = false
          }}
        />
      )}
      <Reading of={delegations}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">There are none.</p>
          ) : (
            <Table label="Delegations" heads={["For", "Where", "What", "Ends", "Last used", ""]}>
              {found.map((delegation) => (
                <Row key={delegation.id} delegation={delegation} changed={delegations.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
    </>
  )
}
