import type { Group, GroupMember } from "@coffer/domain/directory/Group"
import type { Email, OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { By, Person } from "../../kit/Person.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { Ahead } from "../../kit/When.js"
import { noteDone } from "../../state/Done.js"
import { Visible } from "../../kit/Visible.js"

interface MembersProps {
  readonly org: OrgName
  readonly group: Group
  readonly changed: () => void
}

/** Whether the organization's directory alone changes the members of a group. */
export const isManaged = ({ source }: Group): boolean => source === "scim"

/** The members of a group, and the people of the organization. */
const read = (org: OrgName, group: Group) =>
  Effect.all([
    call("groups", (api) => api.members({ path: { org_name: org, group_name: group.name } })),
    call("members", (api) => api.list({ path: { org_name: org } }))
  ]).pipe(Effect.map(([members, people]) => ({ members: members.data, people: people.data.map(({ email }) => email) })))

const Add = ({ changed, group, org, others }: MembersProps & { readonly others: ReadonlyArray<Email> }) => {
  const chosen = useSignal<Email | null>(null)
  const act = useAct()
  const email = others.find((one) => one === chosen.value) ?? others[0]
  if (email === undefined) return <p class="quiet">Everyone of the organization was added to the group.</p>
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        const path = { org_name: org, group_name: group.name }
        act.run(
          call("groups", (api) => api.addMember({ path, payload: { email } })),
          ({ user_id }) => {
            noteDone(`${email} was added to ${group.name}.`, {
              effect: call("groups", (api) => api.removeMember({ path: { ...path, user_id } })),
              done: changed
            })
            changed()
          }
        )
      }}
    >
      <Choose label="Person" value={email} words={others} choose={(word) => (chosen.value = word)} />
      <button class="primary" disabled={act.isBusy.value}>
        Add to the group
      </button>
      <Problem failure={act.failure.value} />
    </form>
  )
}

const Row = ({ changed, group, member, org }: MembersProps & { readonly member: GroupMember }) => {
  const act = useAct()
  const { added_by, created_at, email, login_ends_at, provider_group, user_id } = member
  const path = { org_name: org, group_name: group.name, user_id }
  return (
    <tr>
      <th scope="row">
        <Person address={email} />
      </th>
      <td class="quiet">
        {created_at !== undefined && added_by !== undefined && <By time={created_at} who={added_by} />}
        {created_at !== undefined && login_ends_at !== undefined && <br />}
        {login_ends_at !== undefined && (
          <>
            by a login as {provider_group !== undefined && <Visible text={provider_group} />}, ends{" "}
            <Ahead time={login_ends_at} />
          </>
        )}
      </td>
      <td class="actions">
        {created_at !== undefined && !isManaged(group) && (
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("groups", (api) => api.removeMember({ path })),
                () => {
                  noteDone(`${email} was removed from ${group.name}.`, {
                    effect: call("groups", (api) => api.addMember({ path, payload: { email } })),
                    done: changed
                  })
                  changed()
                }
              )
            }}
          >
            Remove<span class="hidden"> {email}</span>
          </button>
        )}
        <Problem failure={act.failure.value} />
      </td>
    </tr>
  )
}

/** Shows the members of a group, adds others and removes them. */
export const Members = (props: MembersProps & { readonly close: () => void }) => {
  const { changed, close, group, org } = props
  const found = useLoad(`${org} ${group.name}`, () => read(org, group))
  const own = {
    ...props,
    changed: () => {
      found.reload()
      changed()
    }
  }
  return (
    <Dialog title={`Members of ${group.name}`} class="drawer" close={close}>
      <Reading of={found}>
        {({ members, people }) => (
          <>
            {isManaged(group) ? (
              <p class="quiet">The directory of {org} manages this group by SCIM: change its members there.</p>
            ) : (
              <Add
                {...own}
                others={people.filter(
                  (email) => !members.some((one) => one.email === email && one.added_by !== undefined)
                )}
              />
            )}
            {members.length === 0 ? (
              <p class="quiet">The group has no members yet.</p>
            ) : (
              <Table label={`Members of ${group.name}`} heads={["Person", "Added", ""]}>
                {members.map((member) => (
                  <Row key={member.user_id} {...own} member={member} />
                ))}
              </Table>
            )}
          </>
        )}
      </Reading>
    </Dialog>
  )
}
