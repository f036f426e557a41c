import type { AclRule } from "@coffer/domain/access/AclRule"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Ahead, When } from "../../kit/When.js"
import { missingInOrg } from "../../client/Organizations.js"
import type { PageProps } from "../PageProps.js"
import { RuleEditor } from "./RuleEditor.js"
import { Table } from "../../kit/Table.js"

const read = (org: OrgName) =>
  Effect.map(
    call("acl", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

const subjectOf = ({ email, group, name, subject_id }: AclRule): string => email ?? group ?? name ?? subject_id

interface RowProps {
  readonly org: OrgName
  readonly rule: AclRule
  readonly changed: () => void
}

const Row = ({ changed, org, rule }: RowProps) => {
  const isOpen = useSignal(false)
  const act = useAct()
  const { created_at, created_by, env_pattern, expires_at, id, permission, project_pattern, subject_type } = rule
  const subject = subjectOf(rule)
  return (
    <tr>
      <th scope="row">
        {subject} {subject_type === "service_account" && <span class="badge">machine</span>}
        {subject_type === "group" && <span class="badge">group</span>}
      </th>
      <td>
        <code>
          {project_pattern}/{env_pattern}
        </code>
      </td>
      <td>
        <span class={permission === "admin" ? "badge bad" : permission === "write" ? "badge warn" : "badge good"}>
          {permission}
        </span>
      </td>
      <td>{expires_at === undefined ? <span class="quiet">never</span> : <Ahead time={expires_at} />}</td>
      <td class="quiet">
        <When time={created_at} /> by {created_by}
      </td>
      <td class="actions">
        <button type="button" onClick={() => (isOpen.value = true)}>
          Revoke<span class="hidden"> the rule of {subject}</span>
        </button>
        {isOpen.value && (
          <Dialog title="Revoke a rule" busy={act.isBusy} close={() => (isOpen.value = false)}>
            <p>
              {subject} loses <strong>{permission}</strong> on <code>{`${project_pattern}/${env_pattern}`}</code> at
              once, unless a role or another rule gives it.
            </p>
            <DialogButtons
              act={act}
              close={() => (isOpen.value = false)}
              word="Revoke"
              kind="danger"
              decide={() => {
                act.run(
                  call("acl", (api) => api.revoke({ path: { org_name: org, rule_id: id } })),
                  changed
                )
              }}
            />
          </Dialog>
        )}
      </td>
    </tr>
  )
}

const Rules = ({
  changed,
  org,
  rules
}: {
  readonly org: OrgName
  readonly rules: ReadonlyArray<AclRule>
  readonly changed: () => void
}) => {
  const filter = useSignal("")
  const wanted = filter.value.trim().toLowerCase()
  const found = rules.filter((rule) =>
    `${subjectOf(rule)} ${rule.project_pattern}/${rule.env_pattern} ${rule.permission}`.toLowerCase().includes(wanted)
  )
  if (rules.length === 0) {
    return (
      <p class="quiet">
        There are no rules yet. Owners and admins reach every secret without one; developers, members and service
        accounts reach none.
      </p>
    )
  }
  return (
    <>
      <input
        type="search"
        class="wide"
        aria-label="Filter rules"
        placeholder={rules.length === 1 ? "Filter 1 rule" : `Filter ${rules.length} rules`}
        value={filter.value}
        onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
      />
      <Table label="Rules" heads={["Who", "Projects / environments", "May", "Ends", "Granted", ""]}>
        {found.slice(0, 500).map((rule) => (
          <Row key={rule.id} org={org} rule={rule} changed={changed} />
        ))}
      </Table>
      {found.length > 500 && <p class="quiet">The first 500 of {found.length}: filter to see the others.</p>}
    </>
  )
}

/** The access rules of an organization, with an editor and the explanation beside them. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const rules = useLoad(org, () => read(org))
  const why = missingInOrg(org, "acl.grant")
  return (
    <section class="wide-page">
      <h1>Access rules</h1>
      {why === null ? <RuleEditor org={org} done={rules.reload} /> : <p class="quiet">To grant rules, one {why}.</p>}
      <Reading of={rules}>{(found) => <Rules org={org} rules={found} changed={rules.reload} />}</Reading>
    </section>
  )
}
