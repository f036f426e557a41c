import { Days } from "@coffer/domain/ServiceAccount"
import type { OrgName } from "@coffer/domain/Names"
import { accountNameForm } from "@coffer/domain/NameForms"
import { Pattern } from "@coffer/domain/Pattern"
import { programNames, programs, signInProblem } from "@coffer/domain/WorksWith"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { choicesIn, type ProjectEnvironments } from "../../client/Environments.js"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
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
const purposes = [noProgram, ...programNames.map((name) => programs[name].title)] as const
type Purpose = (typeof purposes)[number]

const decodePattern = Schema.decodeUnknownOption(Pattern)
const decodeDays = Schema.decodeUnknownOption(Days)

interface FormProps {
  readonly org: OrgName
  readonly places: ReadonlyArray<ProjectEnvironments>
  readonly done: (made: Made) => void
}

/** Name, place, purpose and lifetime: an account that reads one environment of one project. */
const Form = ({ done, org, places }: FormProps) => {
  const name = useSignal("")
  const projectName = useSignal(places[0]?.project ?? "")
  const envName = useSignal("")
  const purpose = useSignal<Purpose>(noProgram)
  const chosenWay = useSignal<Way>("without a stored key")
  const lifetime = useSignal<Lifetime>("90 days")
  const reveals = useSignal(true)
  const act = useAct()
  const program = programOf(purpose.value)
  const possible = ways.filter(
    (one) => program === undefined || signInProblem(program, one === "with a key") === undefined
  )
  const way = possible.find((one) => one === chosenWay.value) ?? possible[0] ?? chosenWay.value
  const hasKey = way === "with a key"
  const place = places.find(({ project }) => project === projectName.value)
  const env = place?.envs.find((one) => one === envName.value) ?? place?.envs[0]
  if (place === undefined || env === undefined) {
    return <p>A service account reads an environment of a project: create a project first.</p>
  }
  const { project } = place
  const text = name.value.trim()
  const submit = (event: Event) => {
    event.preventDefault()
    const days = hasKey ? Option.getOrUndefined(decodeDays(lifetimes[lifetime.value])) : undefined
    const patterns = Option.all({ project_pattern: decodePattern(project), env_pattern: decodePattern(env) })
    if (Option.isNone(patterns) || !accountNameForm.is(text)) return
    act.run(
      Effect.gen(function* () {
        const account = yield* call("serviceAccounts", (api) =>
          api.create({
            path: { org_name: org },
            payload: {
              name: text,
              project,
              reveal: program !== undefined || reveals.value,
              ...(!hasKey && { key: false }),
              ...(days !== undefined && { expires_in_days: days })
            }
          })
        )
        yield* call("acl", (api) =>
          api.grant({
            path: { org_name: org },
            payload: {
              subject_type: "service_account",
              subject_id: account.id,
              ...patterns.value,
              permission: "read"
            }
          })
        )
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
      <Choose
        label="Project"
        value={project}
        words={places.map((one) => one.project)}
        choose={(word) => (projectName.value = word)}
      />
      <Choose
        label="Environment that it reads"
        value={env}
        words={place.envs}
        choose={(word) => (envName.value = word)}
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
      <footer>
        <button class="primary" disabled={act.isBusy.value || !accountNameForm.is(text)}>
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
  const places = useLoad(org, () => choicesIn(org))
  const found = made.value
  return (
    <Dialog title={found === null ? "New service account" : `Use ${found.account.name}`} class="wide" close={close}>
      {found === null ? (
        <Reading of={places}>
          {(value) => (
            <Form
              org={org}
              places={value}
              done={(next) => {
                made.value = next
                changed()
              }}
            />
          )}
        </Reading>
      ) : (
        <Recipe org={org} made={found} />
      )}
    </Dialog>
  )
}
