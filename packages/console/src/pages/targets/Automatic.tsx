import { automations, type Target } from "@coffer/domain/secrets/Target"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { noteDone } from "../../state/Done.js"
import type { EnvPath } from "./TargetsRead.js"

export type Automation = (typeof automations)[number]

export const automationOf = (target: Target): Automation =>
  automations.find((word) => word === target.automatic) ?? "off"

export const effects: Readonly<Record<Automation, string>> = {
  off: "Nothing is pushed before somebody pushes.",
  push: "Each change of the environment is pushed within seconds, by your rights.",
  repair: "Each change is pushed, and what somebody else changes there is written again, by your rights."
}

interface AutomaticProps {
  readonly path: EnvPath
  readonly target: Target
  readonly close: () => void
  readonly done: () => void
}

/** Chooses what the server pushes by itself. */
export const Automatic = ({ close, done, path, target }: AutomaticProps) => {
  const before = automationOf(target)
  const word = useSignal(before)
  const act = useAct()
  const { name } = target
  const set = (automatic: Automation) =>
    call("targets", (api) => api.update({ path: { ...path, target_name: name }, payload: { automatic } }))
  return (
    <Dialog title={`Pushes of ${name}`} busy={act.isBusy} close={close}>
      <Choose label="Automatic" value={word.value} words={automations} choose={(next) => (word.value = next)} />
      <p class="hint">{effects[word.value]}</p>
      <DialogButtons
        act={act}
        close={close}
        word="Save"
        kind="primary"
        isDisabled={word.value === before}
        decide={() => {
          act.run(set(word.value), ({ automatic }) => {
            close()
            noteDone(`Automatic pushes of ${name}: ${automatic}.`, { effect: set(before), done })
            done()
          })
        }}
      />
    </Dialog>
  )
}
