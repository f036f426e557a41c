import type { Group } from "@coffer/domain/directory/Group"
import { groupNameForm } from "@coffer/domain/base/NameForms"
import { GroupName, type OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { CreateForm } from "../../kit/CreateForm.js"
import { Delete } from "../../kit/Delete.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Rename } from "../../kit/Rename.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { missingInOrg } from "../../client/Organizations.js"
import type { PageProps } from "../PageProps.js"
import { Mappings } from "./Mappings.js"
import { Members } from "./Members.js"

const read = (org: OrgName) =>
  Effect.map(
    call("groups", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly group: Group
  readonly changed: () => void
}

const Row = (props: RowProps) => {
  const { changed, group, org } = props
  const { created_at, created_by, members, name, rules } = group
  const open = useSignal<"members" | "rename" | null>(null)
  const close = () => {
    open.value = null
  }
  const path = { org_name: org, group_name: name }
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{members}</td>
      <td>{rules === 0 ? <span class="badge warn">no rule yet</span> : rules}</td>
      <td class="quiet">
        <When time={created_at} /> by {created_by}
      </td>
      <td class="actions">
        <button type="button" onClick={() => (open.value = "members")}>
          Members<span class="hidden"> of {name}</span>
        </button>
        <button type="button" onClick={() => (open.value = "rename")}>
          Rename<span class="hidden"> {name}</span>
        </button>
        <Delete
          what="group"
          name={name}
          why={missingInOrg(org, "group.delete")}
          remove={call("groups", (api) => api.remove({ path }))}
          done={changed}
        >
          <p>
            {rules === 0
              ? ""
              : rules === 1
                ? "Its access rule ends at once. "
                : `Its ${rules} access rules end at once. `}
            Its members stay in {org}, with what their roles and other rules give.
          </p>
        </Delete>
        {open.value === "members" && <Members {...props} close={close} />}
        {open.value === "rename" && (
          <Dialog title="Rename a group" close={close}>
            <Rename
              what="group"
              name={name}
              form={groupNameForm}
              hint="Its members and rules stay."
              why={missingInOrg(org, "group.update")}
              rename={(next) => call("groups", (api) => api.rename({ path, payload: { name: GroupName.make(next) } }))}
              done={() => {
                close()
                changed()
              }}
            />
          </Dialog>
        )}
      </td>
    </tr>
  )
}

/** The groups of an organization, whose members get access rules together. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const groups = useLoad(org, () => read(org))
  // Empties the form.
  const made = useSignal(0)
  const why = missingInOrg(org, "group.create")
  return (
    <section class="wide-page">
      <h1>Groups</h1>
      <p class="quiet">
        A group gives its members the access that its <Link to={orgAddress(org, "rules")}>rules</Link> say, and no role.
      </p>
      {why === null ? (
        <CreateForm
          key={made.value}
          what="group"
          example="backend"
          form={groupNameForm}
          create={(name) =>
            call("groups", (api) => api.create({ path: { org_name: org }, payload: { name: GroupName.make(name) } }))
          }
          done={() => {
            made.value += 1
            groups.reload()
          }}
        />
      ) : (
        <p class="quiet">To create groups, one {why}.</p>
      )}
      <Reading of={groups}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">There are no groups yet.</p>
          ) : (
            <Table label="Groups" heads={["Name", "Members", "Rules", "Created", ""]}>
              {found.map((group) => (
                <Row key={group.id} org={org} group={group} changed={groups.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
      <Mappings org={org} groups={groups.loaded.value.value?.map(({ name }) => name) ?? []} changed={groups.reload} />
    </section>
  )
}
