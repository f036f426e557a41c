import type { Target, TargetChange } from "@coffer/domain/secrets/Target"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { noteDone } from "../../state/Done.js"
import type { EnvPath } from "./TargetsRead.js"

const words: Readonly<Record<string, string>> = { theirs: "theirs, left alone", removed: "removed there" }

const isChange = ({ change }: TargetChange): boolean => /^(new|changed|removed)$/.test(change)

const Row = ({ one: { change, key, name, reason } }: { readonly one: TargetChange }) => (
  <tr>
    <th scope="row">
      <code>{name}</code>
    </th>
    <td>{key !== null && <code>{key}</code>}</td>
    <td>
      <span class={`badge${change === "refused" ? " bad" : change === "new" ? " good" : ""}`}>
        {words[change] ?? change}
      </span>
      {reason !== undefined && ` ${reason}`}
    </td>
  </tr>
)

interface PushProps {
  readonly path: EnvPath
  readonly target: Target
  readonly close: () => void
  readonly done: () => void
}

/** Shows what a push would change on the platform, without values, and then makes exactly that. */
export const PushDialog = ({ close, done, path, target: { name } }: PushProps) => {
  const at = { ...path, target_name: name }
  const isTaking = useSignal(false)
  const taking = isTaking.value ? { take_over: true } : {}
  const plan = useLoad(String(isTaking.value), () => call("targets", (api) => api.plan({ path: at, payload: taking })))
  const act = useAct()
  return (
    <Dialog title={`Push ${path.env_name} to ${name}`} class="wide" busy={act.isBusy} close={close}>
      <Reading of={plan}>
        {({ data, plan: id, revision }) => {
          const count = data.filter(isChange).length
          const theirs = data.filter(({ change }) => change === "theirs").length
          return (
            <>
              <p>
                Nothing is sent yet: this is what a push of revision {revision} changes there. Whoever can read the
                platform can read what is pushed.
              </p>
              {data.length === 0 ? (
                <p>Nothing is here, and nothing there.</p>
              ) : (
                <Table label="Plan" heads={["Name there", "Key", "Change"]}>
                  {data.map((one) => (
                    <Row key={one.name} one={one} />
                  ))}
                </Table>
              )}
              {theirs > 0 && !isTaking.value && (
                <p>
                  Coffer did not write what is theirs.{" "}
                  <button type="button" onClick={() => (isTaking.value = true)}>
                    Plan to overwrite it
                  </button>
                </p>
              )}
              <DialogButtons
                act={act}
                close={close}
                word={count === 0 ? "Nothing to push" : `Push ${count.toLocaleString("en")} to ${name}`}
                kind="primary"
                isDisabled={count === 0}
                decide={() => {
                  act.run(
                    call("targets", (api) => api.push({ path: at, payload: { plan: id, ...taking } })),
                    ({ left, pushed, removed, revision }) => {
                      close()
                      noteDone(
                        `${name} has revision ${revision}: ${pushed} pushed, ${removed} removed there${left === 0 ? "" : `; ${left} are left: push again`}.`
                      )
                      done()
                    }
                  )
                }}
              />
            </>
          )
        }}
      </Reading>
    </Dialog>
  )
}
