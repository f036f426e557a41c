import { type GroupMapping, maxProviderGroupLength, ProviderGroup } from "@coffer/domain/directory/Group"
import type { GroupName, OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { type Action, useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { TextField } from "../../kit/TextField.js"
import { missingInOrg } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"
import { Visible } from "../../kit/Visible.js"

interface MappingsProps {
  readonly org: OrgName
  readonly groups: ReadonlyArray<GroupName>
}

interface EditProps extends MappingsProps {
  /** One for all rows: each change is of the whole list. */
  readonly act: Action
  readonly changed: () => void
}

const isProviderGroup = Schema.is(ProviderGroup)

const read = (org: OrgName) => call("groups", (api) => api.mappings({ path: { org_name: org } }))

/** Changes the list as it is now. The list that the page shows may have a mapping that was removed since. */
const change = (org: OrgName, f: (mappings: ReadonlyArray<GroupMapping>) => ReadonlyArray<GroupMapping>) =>
  Effect.flatMap(read(org), ({ data }) =>
    call("groups", (api) => api.setMappings({ path: { org_name: org }, payload: { mappings: f(data) } }))
  )

const isSame = (one: GroupMapping, other: GroupMapping): boolean =>
  one.group === other.group && one.provider_group === other.provider_group

const without = (mapping: GroupMapping) => (mappings: ReadonlyArray<GroupMapping>) =>
  mappings.filter((one) => !isSame(one, mapping))

const Add = ({ act, changed, groups, org }: EditProps) => {
  const name = useSignal("")
  const chosen = useSignal<GroupName | null>(null)
  const provider_group = name.value
  const group = groups.find((one) => one === chosen.value) ?? groups[0]
  if (group === undefined) return null
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        act.run(
          change(org, (mappings) => [...mappings, { provider_group, group }]),
          () => {
            name.value = ""
            changed()
            noteDone(`${provider_group} counts as ${group} now.`, {
              effect: change(org, without({ provider_group, group })),
              done: changed
            })
          }
        )
      }}
    >
      <TextField
        label="Group at the provider"
        text={name}
        placeholder="platform-team"
        maxLength={maxProviderGroupLength}
      />
      <Choose label="Counts as" value={group} words={groups} choose={(word) => (chosen.value = word)} />
      <button class="primary" disabled={act.isBusy.value || !isProviderGroup(provider_group)}>
        Add mapping
      </button>
    </form>
  )
}

const Row = ({ act, changed, mapping, org }: EditProps & { readonly mapping: GroupMapping }) => {
  const { group, provider_group } = mapping
  return (
    <tr>
      <th scope="row">
        <Visible text={provider_group} />
      </th>
      <td>{group}</td>
      <td class="actions">
        {missingInOrg(org, "group.map") === null && (
          <ConfirmButton
            title={`Remove the mapping of ${provider_group}?`}
            label={
              <>
                Remove
                <span class="hidden">
                  {" "}
                  {provider_group} as {group}
                </span>
              </>
            }
            verb="Remove the mapping"
            isDisabled={act.isBusy.value}
            effect={change(org, without(mapping))}
            done={() => {
              changed()
              noteDone(`${provider_group} counts as ${group} no longer.`, {
                effect: change(org, (mappings) => [...mappings, mapping]),
                done: changed
              })
            }}
          >
            <p>
              Whoever is in <Visible text={provider_group} /> at the provider leaves {group} here, unless somebody added
              them, and loses what its rules give.
            </p>
          </ConfirmButton>
        )}
      </td>
    </tr>
  )
}

/** Which groups of the provider of single sign-on count as groups of the organization. */
export const Mappings = (props: MappingsProps & { readonly changed: () => void }) => {
  const { org } = props
  const found = useLoad(org, () => read(org))
  const act = useAct()
  const changed = () => {
    found.reload()
    props.changed()
  }
  const why = missingInOrg(org, "group.map")
  return (
    <Reading of={found}>
      {({ claim, data }) =>
        // Of no use until the server takes groups.
        claim === null && data.length === 0 ? null : (
          <>
            <h2>Groups at the provider</h2>
            <p class="quiet">
              {claim === null
                ? "The server takes no groups from its provider of single sign-on: these mappings give nothing."
                : `Who logs in by single sign-on is in these groups for a while, beside those who were added. The names are those of the claim ${claim}.`}
            </p>
            {data.length > 0 && (
              <Table label="Groups at the provider" heads={["Group at the provider", "Counts as", ""]}>
                {data.map((mapping) => (
                  <Row
                    key={`${mapping.group} ${mapping.provider_group}`}
                    {...props}
                    act={act}
                    mapping={mapping}
                    changed={changed}
                  />
                ))}
              </Table>
            )}
            {why === null ? (
              <Add {...props} act={act} changed={changed} />
            ) : (
              <p class="quiet">To change this, one {why}.</p>
            )}
            <Problem failure={act.failure.value} />
          </>
        )
      }
    </Reading>
  )
}
