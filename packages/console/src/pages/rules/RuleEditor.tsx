import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import type { GroupName, OrgName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Explain, type Subject } from "../../kit/Explain.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { TextField } from "../../kit/TextField.js"
import { query } from "../../routing/Router.js"
import { missingInOrg } from "../../client/Organizations.js"
import { Coverage } from "./Coverage.js"
import { endOf, Ends, useEnd } from "../../kit/Ends.js"
import "./Page.css"

interface Named {
  readonly name: string
  readonly subject: Subject | { readonly subject_type: "group"; readonly group: GroupName }
}

/** People, groups and service accounts, by name. */
const readSubjects = (org: OrgName) =>
  Effect.all([
    Effect.map(
      call("members", (api) => api.list({ path: { org_name: org } })),
      ({ data }) => data.map(({ email }): Named => ({ name: email, subject: { subject_type: "user", email } }))
    ),
    missingInOrg(org, "group.list") === null
      ? Effect.map(
          call("groups", (api) => api.list({ path: { org_name: org } })),
          ({ data }) =>
            data.map(({ name }): Named => ({ name: `group ${name}`, subject: { subject_type: "group", group: name } }))
        )
      : Effect.succeed([]),
    missingInOrg(org, "service_account.list") === null
      ? Effect.map(
          call("serviceAccounts", (api) => api.list({ path: { org_name: org } })),
          ({ data }) =>
            data.map(({ id, name }): Named => ({
              // A name that no group has, and no person: the choice is by name.
              name: `account ${name}`,
              subject: { subject_type: "service_account", subject_id: id }
            }))
        )
      : Effect.succeed([])
  ]).pipe(Effect.map((found) => found.flat()))

const decode = Schema.decodeUnknownOption(Pattern)

const patternHint = "a name, or a pattern: * is any text, ? any character, {a,b} either"

interface FormProps {
  readonly org: OrgName
  readonly subjects: ReadonlyArray<Named>
  readonly done: () => void
}

const Form = ({ done, org, subjects }: FormProps) => {
  const asked = query.value.get("who")
  const who = useSignal((subjects.find(({ name }) => name === asked) ?? subjects[0])?.name ?? "")
  const projects = useSignal("")
  const envs = useSignal("")
  const permission = useSignal<Permission>("read")
  const end = useEnd()
  const act = useAct()
  const project = Option.getOrNull(decode(projects.value))
  const env = Option.getOrNull(decode(envs.value))
  const chosen = subjects.find(({ name }) => name === who.value) ?? null
  const submit = (event: Event) => {
    event.preventDefault()
    const ends = endOf(end)
    if (chosen === null || project === null || env === null || ends === null) return
    const granted = { project_pattern: project, env_pattern: env, permission: permission.value, ...ends }
    const { subject } = chosen
    act.run(
      call("acl", (api) =>
        subject.subject_type === "user"
          ? api.grant({ path: { org_name: org }, payload: { ...subject, ...granted } })
          : subject.subject_type === "group"
            ? api.grant({ path: { org_name: org }, payload: { ...subject, ...granted } })
            : api.grant({ path: { org_name: org }, payload: { ...subject, ...granted } })
      ),
      () => {
        projects.value = ""
        envs.value = ""
        done()
      }
    )
  }
  return (
    <div class="rules-desk">
      <form onSubmit={submit}>
        <h2>Grant</h2>
        <Choose
          label="Who"
          value={who.value}
          words={subjects.map(({ name }) => name)}
          choose={(name) => (who.value = name)}
        />
        <TextField
          label="Projects"
          text={projects}
          placeholder="web*"
          maxLength={200}
          isBad={projects.value !== "" && project === null}
          hint={patternHint}
        />
        <TextField
          label="Environments"
          text={envs}
          placeholder="{dev,staging}"
          maxLength={200}
          isBad={envs.value !== "" && env === null}
          hint={patternHint}
        />
        <Choose label="May" value={permission.value} words={permissions} choose={(word) => (permission.value = word)} />
        <p class="hint">
          {permission.value === "read" && "Read values and their history."}
          {permission.value === "write" && "Read and write values."}
          {permission.value === "admin" && "Read, write, and destroy versions for ever."}
        </p>
        <Ends end={end} />
        <button class="primary" disabled={act.isBusy.value || project === null || env === null || endOf(end) === null}>
          Grant {permission.value}
        </button>
        <Problem failure={act.failure.value} />
      </form>
      <section aria-labelledby="rules-covers">
        <h2 id="rules-covers">Covers now</h2>
        <Coverage org={org} project={project} env={env} />
      </section>
      <section aria-labelledby="rules-explain">
        <h2 id="rules-explain">Explain {who.value}</h2>
        {chosen?.subject.subject_type === "group" && (
          <p class="quiet">Its members get what its rules give, beside what their own rules and roles do.</p>
        )}
        {chosen !== null && chosen.subject.subject_type !== "group" && (
          <Explain key={chosen.name} org={org} subject={chosen.subject} />
        )}
      </section>
    </div>
  )
}

/** Grants a rule: what its patterns cover, and what the subject may do already, are beside it. */
export const RuleEditor = ({ done, org }: { readonly org: OrgName; readonly done: () => void }) => {
  const subjects = useLoad(org, () => readSubjects(org))
  return <Reading of={subjects}>{(found) => <Form org={org} subjects={found} done={done} />}</Reading>
}
