import { Days, type NewServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import type { OrgName } from "@coffer/domain/base/Names"
import { accountNameForm } from "@coffer/domain/base/NameForms"
import { Pattern } from "@coffer/domain/base/Pattern"
import { programNames, signInProblem, titleOf } from "@coffer/domain/guides/Programs"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { type Action, useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { ChoosePlace, usePlaceChoice } from "../../kit/ChoosePlace.js"
import { Dialog } from "../../kit/Dialog.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { programOf } from "./ProgramLines.js"
import { type Made, Recipe } from "./Recipe.js"

const lifetimes = { "30 days": 30, "90 days": 90, "1 year": 365, never: null } as const
type Lifetime = keyof typeof lifetimes
const lifetimeWords: ReadonlyArray<Lifetime> = ["30 days", "90 days", "1 year", "never"]

const ways = ["without a stored key", "with a key"] as const
type Way = (typeof ways)[number]

const waysHint = {
  "without a stored key":
    "For GitHub, GitLab, Kubernetes, Buildkite, CircleCI and others that sign a token for each job.",
  "with a key": "For Docker, systemd, agents, and whatever has no token of its own. The key has to be stored there."
} as const

/** It is for a program that reads values. */
const programHint = {
  "without a stored key": "It reads values for pods of a cluster, with the tokens of their service account.",
  "with a key": "It reads values. The program has to store the key."
} as const

const noProgram = "a job, a server or an agent"
const purposes = [noProgram, ...programNames.map(titleOf)]

const decodePattern = Schema.decodeUnknownOption(Pattern)
const decodeDays = Schema.decodeUnknownOption(Days)

interface FormProps {
  readonly org: OrgName
  readonly act: Action
  /** Called when the account exists. */
  readonly changed: () => void
  readonly done: (made: Made) => void
}

/** An account that exists, and what it was made of. */
interface Created {
  readonly of: string
  readonly account: NewServiceAccount
}

/** Name, place, purpose and lifetime: an account that reads one environment of one project. */
const Form = ({ act, changed, done, org }: FormProps) => {
  const name = useSignal("")
  const choice = usePlaceChoice(org)
  const purpose = useSignal(noProgram)
  const chosenWay = useSignal<Way>("without a stored key")
  const lifetime = useSignal<Lifetime>("90 days")
  const reveals = useSignal(true)
  const created = useSignal<Created | null>(null)
  const program = programOf(purpose.value)
  const possible = ways.filter(
    (one) => program === undefined || signInProblem(program, one === "with a key") === undefined
  )
  const way = possible.find((one) => one === chosenWay.value) ?? possible[0] ?? chosenWay.value
  const hasKey = way === "with a key"
  const { env, project } = choice
  const text = name.value.trim()
  const submit = (event: Event) => {
    event.preventDefault()
    if (project === undefined || env === undefined || !accountNameForm.is(text)) return
    const days = hasKey ? Option.getOrUndefined(decodeDays(lifetimes[lifetime.value])) : undefined
    const patterns = Option.all({ project_pattern: decodePattern(project), env_pattern: decodePattern(env) })
    if (Option.isNone(patterns)) return
    const path = { org_name: org }
    const payload = {
      name: text,
      project,
      reveal: program !== undefined || reveals.value,
      ...(!hasKey && { key: false }),
      ...(days !== undefined && { expires_in_days: days })
    }
    const of = JSON.stringify(payload)
    act.run(
      Effect.gen(function* () {
        // After a rule that failed, the account exists, and its key is nowhere but here.
        const before = created.peek()?.of === of ? created.peek()?.account : undefined
        const account = before ?? (yield* call("serviceAccounts", (api) => api.create({ path, payload })))
        if (before === undefined) changed()
        created.value = { of, account }
        const subject = { subject_type: "service_account", subject_id: account.id } as const
        yield* call("acl", (api) => api.grant({ path, payload: { ...subject, ...patterns.value, permission: "read" } }))
        return account
      }),
      (account) => {
        done({ account, project, env, program })
      }
    )
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label="Name"
        text={name}
        placeholder="deploy"
        maxLength={64}
        isBad={text !== "" && !accountNameForm.is(text)}
        hint="letters, digits, spaces, dots, underscores and hyphens"
      />
      <ChoosePlace
        choice={choice}
        envLabel="Environment that it reads"
        nothing="A service account reads an environment of a project: create a project first."
      />
      <Choose label="It is for" value={purpose.value} words={purposes} choose={(word) => (purpose.value = word)} />
      <Choose
        label="It signs in"
        value={way}
        words={possible}
        disabled={possible.length === 1}
        choose={(word) => (chosenWay.value = word)}
      />
      <p class="hint">{program === undefined ? waysHint[way] : programHint[way]}</p>
      {hasKey && (
        <Choose
          label="The key expires after"
          value={lifetime.value}
          words={lifetimeWords}
          choose={(word) => (lifetime.value = word)}
        />
      )}
      {program === undefined && (
        <Check isChecked={reveals.value} choose={(isChecked) => (reveals.value = isChecked)}>
          It may see values. Without, it only lists and compares keys, such as an agent.
        </Check>
      )}
      <Problem failure={act.failure.value} />
      {created.value !== null && act.failure.value !== null && (
        <p class="hint">
          {created.value.account.name} exists, without a rule that lets it read. Create again to add the rule.
        </p>
      )}
      <footer>
        <button class="primary" disabled={act.isBusy.value || env === undefined || !accountNameForm.is(text)}>
          Create
        </button>
      </footer>
    </form>
  )
}

interface WizardProps {
  readonly org: OrgName
  readonly close: () => void
  readonly changed: () => void
}

/** Makes a service account, and ends with the exact lines for where it runs. */
export const Wizard = ({ changed, close, org }: WizardProps) => {
  const made = useSignal<Made | null>(null)
  const act = useAct()
  const found = made.value
  return (
    <Dialog
      title={found === null ? "New service account" : `Use ${found.account.name}`}
      class="wide"
      busy={act.isBusy}
      close={close}
    >
      {found === null ? (
        <Form org={org} act={act} changed={changed} done={(next) => (made.value = next)} />
      ) : (
        <Recipe org={org} made={found} changed={changed} />
      )}
    </Dialog>
  )
}
