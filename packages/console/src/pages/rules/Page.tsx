import type { AclRule } from "@coffer/domain/access/AclRule"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { Bot, Users } from "lucide"
import { call } from "../../client/Calls.js"
import { missingInOrg } from "../../client/Organizations.js"
import { Confirm } from "../../kit/Confirm.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { By, Named, Person } from "../../kit/Person.js"
import { UsageBadge } from "../../kit/UsageBadge.js"
import { Ahead } from "../../kit/When.js"
import { query, setQueries } from "../../routing/Router.js"
import type { PageProps } from "../PageProps.js"
import { RuleEditor } from "./RuleEditor.js"
import { noteRevoked, permissionOf, placesOf, subjectOf } from "./Undo.js"

const read = (org: OrgName) =>
  Effect.map(
    call("acl", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly rule: AclRule
  readonly changed: () => void
}

const Row = ({ changed, org, rule }: RowProps) => {
  const isOpen = useSignal(false)
  const { created_at, created_by, denies, expires_at, id, permission, subject_type, usage } = rule
  const subject = subjectOf(rule)
  const places = <code>{placesOf(rule)}</code>
  return (
    <tr>
      <th scope="row">
        {subject_type === "service_account" ? (
          <>
            <Named icon={Bot} name={subject} /> <span class="badge">machine</span>
          </>
        ) : subject_type === "group" ? (
          <>
            <Named icon={Users} name={subject} /> <span class="badge">group</span>
          </>
        ) : (
          <Person address={subject} />
        )}
      </th>
      <td>{places}</td>
      <td>
        {permissionOf(rule)}
        <UsageBadge usage={usage} />
      </td>
      <td>{expires_at === undefined ? <span class="quiet">never</span> : <Ahead time={expires_at} />}</td>
      <td class="quiet">
        <By time={created_at} who={created_by} />
      </td>
      <td class="actions">
        <Menu label={`Actions for the rule of ${subject}`}>
          <MenuItem run={() => (isOpen.value = true)} why={missingInOrg(org, "acl.revoke")}>
            Revoke<span class="hidden"> the rule of {subject}</span>
          </MenuItem>
        </Menu>
        {isOpen.value && (
          <Confirm
            title="Revoke a rule"
            verb="Revoke"
            effect={call("acl", (api) => api.revoke({ path: { org_name: org, rule_id: id } }))}
            close={() => (isOpen.value = false)}
            done={() => {
              noteRevoked(org, rule, changed)
              changed()
            }}
          >
            <p>
              {denies === true ? (
                <>
                  Other rules give {subject} <strong>{permission}</strong> on {places} again, at once.
                </>
              ) : (
                <>
                  {subject} loses <strong>{permission}</strong> on {places} at once, unless a role or another rule gives
                  it.
                </>
              )}
            </p>
          </Confirm>
        )}
      </td>
    </tr>
  )
}

/** The access rules of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const rules = useLoad(org, () => read(org))
  const why = missingInOrg(org, "acl.grant")
  const isNew = useOpened("new")
  const close = () => {
    setQueries({ new: null, who: null })
  }
  return (
    <>
      <ListPage
        title="Access rules"
        about={
          why === null
            ? "Owners and admins reach every secret. All others reach what rules give to them, or to a group of theirs."
            : `To grant rules, one ${why}.`
        }
        create={why === null && <NewButton open={isNew.open}>New rule</NewButton>}
        of={rules}
        heads={["Who", "Projects / environments", "May", "Ends", "Granted", ""]}
        textOf={(rule) => `${subjectOf(rule)} ${placesOf(rule)} ${permissionOf(rule)}`}
        empty={
          <Empty title="There are no rules yet">
            <p>
              Owners and admins reach every secret without one; developers, members and service accounts reach none.
            </p>
          </Empty>
        }
        row={(rule) => <Row key={rule.id} org={org} rule={rule} changed={rules.reload} />}
      />
      {why === null && (isNew.value !== null || query.value.has("who")) && (
        <RuleEditor org={org} done={rules.reload} close={close} />
      )}
    </>
  )
}
