import type { Group } from "@coffer/domain/directory/Group"
import { groupNameForm } from "@coffer/domain/base/NameForms"
import { GroupName, type OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { CreateDialog } from "../../kit/CreateForm.js"
import { DeleteDialog } from "../../kit/Delete.js"
import { Dialog } from "../../kit/Dialog.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { By } from "../../kit/Person.js"
import { Rename } from "../../kit/Rename.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { missingInOrg } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"
import type { PageProps } from "../PageProps.js"
import { Mappings } from "./Mappings.js"
import { isManaged, Members } from "./Members.js"

const read = (org: OrgName) =>
  Effect.map(
    call("groups", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly group: Group
  readonly changed: () => void
  /** Opens the members of the group. */
  readonly show: () => void
}

const Row = ({ changed, group, org, show }: RowProps) => {
  const { created_at, created_by, id, members, name, rules } = group
  const open = useSignal<"delete" | "rename" | null>(null)
  const close = () => {
    open.value = null
  }
  const path = { org_name: org, group_name: name }
  const managed = isManaged(group) ? "is the directory's (SCIM)" : null
  return (
    <tr>
      <th scope="row">
        <Link to={`?group=${id}`} class="row-link" open={show}>
          {name}
        </Link>
        {isManaged(group) && <span class="badge"> from the directory</span>}
      </th>
      <td>{members}</td>
      <td>{rules === 0 ? <span class="badge warn">no rule yet</span> : rules}</td>
      <td class="quiet">
        <By time={created_at} who={created_by} />
      </td>
      <td class="actions">
        <Menu label={`Actions for ${name}`}>
          <MenuItem run={show}>
            Members<span class="hidden"> of {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "rename")} why={managed ?? missingInOrg(org, "group.update")}>
            Rename<span class="hidden"> {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "delete")} why={managed ?? missingInOrg(org, "group.delete")}>
            Delete<span class="hidden"> the group {name}</span>
          </MenuItem>
        </Menu>
        {open.value === "delete" && (
          <DeleteDialog
            what="group"
            name={name}
            remove={call("groups", (api) => api.remove({ path }))}
            done={changed}
            close={close}
          >
            <p>
              {rules === 0
                ? ""
                : rules === 1
                  ? "Its access rule ends at once. "
                  : `Its ${rules} access rules end at once. `}
              Its members stay in {org}, with what their roles and other rules give.
            </p>
          </DeleteDialog>
        )}
        {open.value === "rename" && (
          <Dialog title="Rename a group" close={close}>
            <Rename
              what="group"
              name={name}
              form={groupNameForm}
              hint="Its members and rules stay."
              why={null}
              rename={(next) => call("groups", (api) => api.rename({ path, payload: { name: GroupName.make(next) } }))}
              done={(renamed) => {
                close()
                changed()
                noteDone(`The group ${name} is called ${renamed.name} now.`, {
                  effect: call("groups", (api) =>
                    api.rename({ path: { org_name: org, group_name: renamed.name }, payload: { name } })
                  ),
                  done: changed
                })
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
  const isNew = useOpened("new")
  const shown = useOpened("group")
  const group = groups.loaded.value.value?.find(({ id }) => id === shown.value)
  const why = missingInOrg(org, "group.create")
  return (
    <>
      <ListPage
        title="Groups"
        about={
          <>
            A group gives its members the access that its <Link to={orgAddress(org, "rules")}>rules</Link> say, and no
            role.{why !== null && ` To create groups, one ${why}.`}
          </>
        }
        create={why === null && <NewButton open={isNew.open}>New group</NewButton>}
        of={groups}
        heads={["Name", "Members", "Rules", "Created", ""]}
        textOf={({ created_by, name }) => `${name} ${created_by}`}
        empty={<Empty title="There are no groups yet" />}
        row={(one) => (
          <Row key={one.id} org={org} group={one} changed={groups.reload} show={() => shown.open(one.id)} />
        )}
      >
        <Mappings
          org={org}
          groups={groups.loaded.value.value?.flatMap((one) => (isManaged(one) ? [] : [one.name])) ?? []}
          changed={groups.reload}
        />
      </ListPage>
      {isNew.value !== null && why === null && (
        <CreateDialog
          what="group"
          example="backend"
          form={groupNameForm}
          create={(name) =>
            call("groups", (api) => api.create({ path: { org_name: org }, payload: { name: GroupName.make(name) } }))
          }
          done={() => {
            isNew.close()
            groups.reload()
          }}
          close={isNew.close}
        />
      )}
      {group !== undefined && <Members org={org} group={group} changed={groups.reload} close={shown.close} />}
    </>
  )
}
