import { envNameForm } from "@coffer/domain/base/NameForms"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import type { OrgName } from "@coffer/domain/base/Names"
import type { Previews } from "@coffer/domain/access/Previews"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { endOf, Ends, useEnd } from "../../kit/Ends.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { noteDone } from "../../state/Done.js"
import { facts } from "../../state/Server.js"
import { mayInOrg, missingInOrg } from "../../client/Organizations.js"
import type { PlaceAt } from "../PageProps.js"
import type { Settings } from "./Settings.js"

/** The limits on the environments that the person may create, null if there are none, and undefined if the person may create none; and the reason. */
export const newEnvironment = (
  org: OrgName,
  { previews }: Settings
): { readonly limits: Previews | null | undefined; readonly why: string | null } => {
  const whyNot = missingInOrg(org, "env.create")
  if (whyNot === null) return { limits: null, why: null }
  return previews === null || !mayInOrg(org, "secret.write")
    ? { limits: undefined, why: `To create environments, one ${whyNot}.` }
    : { limits: previews, why: `To create others than previews, one ${whyNot}.` }
}

interface NewProps {
  readonly place: PlaceAt<"project">
  readonly settings: Settings
  /** The limits on the environments that a person who is no admin may create; null: no limits. */
  readonly limits: Previews | null
  readonly reload: () => void
  readonly close: () => void
}

/** Stands for no environment: none can have this name. */
const nothing = "nothing: empty"

/** Creates an environment: empty or as a copy, for good or for a while. */
export const NewEnvironment = ({ close, limits, place: { org, project }, reload, settings }: NewProps) => {
  const act = useAct()
  const name = useSignal("")
  const from = useSignal<string>(limits?.from ?? nothing)
  const end = useEnd(limits === null ? "never" : "in 7 days")
  const chosen = endOf(end)
  const text = name.value.trim()
  const isName = envNameForm.is(text)
  const isOther = isName && limits !== null && !matcherOf(text)(limits.pattern)
  const names = settings.environments.map((one) => one.name)
  const create = () => {
    if (!envNameForm.is(text) || isOther || chosen === null) return
    const source = names.find((one) => one === from.value)
    const payload = { name: text, ...(source !== undefined && { from: source }), ...chosen }
    act.run(
      call("environments", (api) => api.create({ path: { org_name: org, project_name: project }, payload })),
      () => {
        close()
        reload()
        const path = { org_name: org, project_name: project, env_name: payload.name }
        const effect = call("environments", (api) => api.delete({ path, urlParams: {} }))
        // Somebody may have written into it meanwhile: only where the server keeps what is deleted.
        const keeps = (facts.value?.trash_days ?? 0) > 0
        noteDone(`The environment ${payload.name} was created.`, keeps ? { effect, done: reload } : null)
      }
    )
  }
  return (
    <Dialog title="New environment" busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create()
        }}
      >
        <TextField
          label="Name of the environment"
          text={name}
          placeholder={limits?.pattern ?? "preview"}
          maxLength={envNameForm.maxLength}
          isBad={(text !== "" && !isName) || isOther}
          hint={isOther ? `As a preview, it is named ${limits.pattern}.` : `${envNameForm.characters}.`}
        />
        <Choose
          label="Copy of"
          value={from.value}
          words={limits === null ? [nothing, ...names] : [limits.from]}
          choose={(word) => (from.value = word)}
        />
        <Ends end={end} mayLast={limits === null} />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || !isName || isOther || chosen === null}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
