import { Email, type GroupName, type OrgName } from "@coffer/domain/base/Names"
import { type Role, roles } from "@coffer/domain/directory/Member"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { useMemo } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { mayInOrg } from "../../client/Organizations.js"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { useLoad } from "../../kit/Load.js"
import { PatternFields, useTypedPatterns } from "../rules/PatternFields.js"
import { inviteAll } from "./Inviting.js"
import { roleRights } from "./Roles.js"

const decodeEmail = Schema.decodeUnknownOption(Email)

const patternHint = "a name, or a pattern such as web* or {dev,staging}"

const groupsOf = (org: OrgName) =>
  mayInOrg(org, "group.list") && mayInOrg(org, "group.members")
    ? Effect.map(
        call("groups", (api) => api.list({ path: { org_name: org } })),
        ({ data }) => data
      )
    : Effect.succeed([])

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`

interface InviteDialogProps {
  readonly org: OrgName
  readonly done: () => void
  readonly close: () => void
}

/** Invites people by e-mail, with a role, groups and access at once. */
export const InviteDialog = ({ close, done, org }: InviteDialogProps) => {
  const text = useSignal("")
  const role = useSignal<Role>("developer")
  const typed = useTypedPatterns()
  const { env, envs, permission, project, projects } = typed
  const chosen = useSignal<ReadonlyArray<GroupName>>([])
  const groups = useLoad(org, () => groupsOf(org)).loaded.value.value ?? []
  const act = useAct()
  const progress = useMemo(() => ({ invited: new Set<Email>(), done: new Set<Email>() }), [])

  const words = text.value.split(/[\s,;]+/).filter((word) => word !== "")
  const people = [...new Set(words.flatMap((word) => Option.toArray(decodeEmail(word))))]
  const bad = words.find((word) => Option.isNone(decodeEmail(word)))
  const hasRule = projects.value !== "" || envs.value !== ""
  const rule =
    project === null || env === null
      ? null
      : { project_pattern: project, env_pattern: env, permission: permission.value }
  const isReady = people.length > 0 && bad === undefined && (!hasRule || rule !== null)
  const who = people.length === 1 ? (people[0] ?? "") : `${people.length} people`
  const gets = [
    `${people.length === 1 ? "becomes" : "become"} ${role.value} of ${org}`,
    ...(chosen.value.length > 0 ? [`${people.length === 1 ? "joins" : "join"} ${listed(chosen.value)}`] : []),
    ...(rule !== null ? [`may ${rule.permission} in ${rule.project_pattern}/${rule.env_pattern}`] : [])
  ]
  return (
    <Dialog title="Invite people" busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isReady) return
          act.run(inviteAll(org, people, { role: role.value, groups: chosen.value, rule }, progress), () => {
            close()
            done()
          })
        }}
      >
        <TextField
          label="E-mail addresses"
          inputMode="email"
          text={text}
          placeholder="grace@example.com, hal@example.com"
          isBad={bad !== undefined && /[\s,;]$/.test(text.value)}
          hint={bad !== undefined && /[\s,;]/.test(text.value) ? `${bad} is no e-mail address` : undefined}
        />
        <Choose label="Role" value={role.value} words={roles} choose={(word) => (role.value = word)} />
        <p class="hint">{roleRights[role.value]}</p>
        {groups.length > 0 && (
          <fieldset>
            <legend>Groups</legend>
            {groups.map(({ name }) => (
              <Check
                key={name}
                isChecked={chosen.value.includes(name)}
                choose={(isChecked) => {
                  chosen.value = isChecked ? [...chosen.value, name] : chosen.value.filter((one) => one !== name)
                }}
              >
                {name}
              </Check>
            ))}
          </fieldset>
        )}
        <fieldset>
          <legend>Access to secrets, if not by a group or role</legend>
          <div class="fields">
            <PatternFields of={typed} />
          </div>
          <p class="hint">{patternHint}; more rules can follow under Rules.</p>
        </fieldset>
        {isReady && (
          <p role="status">
            {who} {listed(gets)}.
          </p>
        )}
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={!isReady || act.isBusy.value}>
            {people.length > 1 ? `Invite ${people.length}` : "Invite"}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
