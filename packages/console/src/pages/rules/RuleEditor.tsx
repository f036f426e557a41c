import type { OrgName } from "@coffer/domain/base/Names"
import { isKeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { type Action, useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { Explain } from "../../kit/Explain.js"
import { Fold } from "../../kit/Fold.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { Reading } from "../../kit/Reading.js"
import { query } from "../../routing/Router.js"
import { missingInOrg } from "../../client/Organizations.js"
import { Coverage } from "./Coverage.js"
import { PatternFields, useTypedPatterns } from "./PatternFields.js"
import { endOf, Ends, useEnd } from "../../kit/Ends.js"
import { grantRule, noteGranted, type RuleSubject } from "./Undo.js"
import "./Page.css"

interface Named {
  readonly name: string
  readonly subject: RuleSubject
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

const patternHint = "a name, or a pattern: * is any text, ? any character, {a,b} either"

interface EditorProps {
  readonly org: OrgName
  readonly done: () => void
  readonly close: () => void
}

interface FormProps extends EditorProps {
  readonly act: Action
  readonly subjects: ReadonlyArray<Named>
}

const Form = ({ act, close, done, org, subjects }: FormProps) => {
  const asked = query.value.get("who")
  const who = useSignal((subjects.find(({ name }) => name === asked) ?? subjects[0])?.name ?? "")
  const typed = useTypedPatterns()
  const { env, permission, project } = typed
  const keys = useSignal("")
  const denies = useSignal(false)
  const isBad = keys.value !== "" && !isKeyPattern(keys.value)
  const may = denies.value ? "may not" : "may"
  const end = useEnd()
  const chosen = subjects.find(({ name }) => name === who.value) ?? null
  const submit = (event: Event) => {
    event.preventDefault()
    const ends = endOf(end)
    if (chosen === null || project === null || env === null || ends === null || isBad) return
    const granted = {
      project_pattern: project,
      env_pattern: env,
      permission: permission.value,
      ...(keys.value !== "" && { key_pattern: keys.value }),
      ...(denies.value && { denies: true }),
      ...ends
    }
    const { subject } = chosen
    act.run(grantRule(org, subject, granted), (rule) => {
      close()
      noteGranted(org, rule, done)
      done()
    })
  }
  return (
    <div class="rules-desk">
      <form onSubmit={submit}>
        <Choose
          label="Who"
          value={who.value}
          words={subjects.map(({ name }) => name)}
          choose={(name) => (who.value = name)}
        />
        <PatternFields of={typed} hint={patternHint} />
        <p class="hint">
          {permission.value === "read" && "Read values and their history."}
          {permission.value === "write" && "Read and write values."}
          {permission.value === "admin" && "Read, write, and destroy versions for ever."}
        </p>
        <Ends end={end} />
        <Fold title="More">
          <TextField
            label="Keys"
            text={keys}
            placeholder="API_*"
            maxLength={100}
            isBad={isBad}
            hint="only these keys; * is any text"
          />
          <Check isChecked={denies.value} choose={(isChecked) => (denies.value = isChecked)}>
            Deny it instead, whatever other rules give
          </Check>
        </Fold>
        {project !== null && env !== null && (
          <p role="status">
            <bdi>{who.value}</bdi> {may} {permission.value} in <code>{`${project}/${env} ${keys.value}`.trim()}</code>.
          </p>
        )}
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button
            class="primary"
            disabled={act.isBusy.value || project === null || env === null || isBad || endOf(end) === null}
          >
            {denies.value ? "Deny" : "Grant"} {permission.value}
          </button>
        </footer>
      </form>
      <div>
        <h2>Covers now</h2>
        <Coverage org={org} project={project} env={env} />
        <h2>Explain {who.value}</h2>
        {chosen?.subject.subject_type === "group" && (
          <p class="quiet">Its members get what its rules give, beside what their own rules and roles do.</p>
        )}
        {chosen !== null && chosen.subject.subject_type !== "group" && (
          <Explain key={chosen.name} org={org} subject={chosen.subject} />
        )}
      </div>
    </div>
  )
}

/** Grants a rule: what its patterns cover, and what the subject may do already, are beside it. */
export const RuleEditor = (props: EditorProps) => {
  const subjects = useLoad(props.org, () => readSubjects(props.org))
  const act = useAct()
  return (
    <Dialog title="New rule" class="wide" busy={act.isBusy} close={props.close}>
      <Reading of={subjects}>{(found) => <Form {...props} act={act} subjects={found} />}</Reading>
    </Dialog>
  )
}
