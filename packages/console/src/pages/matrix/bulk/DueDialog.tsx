import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import { useAct } from "../../../kit/Act.js"
import { Dialog } from "../../../kit/Dialog.js"
import { Problem, sentence } from "../../../kit/Problem.js"
import { TextField } from "../../../kit/TextField.js"
import type { GridRow } from "../Grid.js"
import type { Model } from "../Model.js"
import { applySteps, changeOf, type DueOutcome, type DueStep, fieldsOf, stepsOf, undoOf } from "./DuePlan.js"
import { TargetEnvironments, targetsOf, useTicked } from "./TargetEnvironments.js"

interface DueProps {
  readonly model: Model
  readonly rows: ReadonlyArray<GridRow>
  readonly reload: () => void
  readonly close: () => void
}

/** At most this many refusals are shown. */
const maxShown = 10

const secrets = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "secret" : "secrets"}`

const Outcome = ({
  outcome: { done, failed, requested },
  undone
}: {
  readonly outcome: DueOutcome
  readonly undone: boolean
}) => (
  <div role="status">
    <p>
      {undone ? `Taken back for ${secrets(done.length)}.` : `Set for ${secrets(done.length)}.`}
      {requested > 0 && ` Requested for ${secrets(requested)}.`}
    </p>
    {failed.length > 0 && (
      <ul class="import-mistakes">
        {failed.slice(0, maxShown).map(({ failure, step: { env, key } }) => (
          <li key={`${env} ${key}`}>
            <span class="quiet">{env}</span> <span class="key">{key}</span> {sentence(failure.message)}
          </li>
        ))}
        {failed.length > maxShown && <li>and {failed.length - maxShown} more</li>}
      </ul>
    )}
  </div>
)

/** Sets when the chosen secrets are due, and their owner. */
export const DueDialog = ({ close, model, reload, rows }: DueProps) => {
  const targets = targetsOf(model, rows)
  const ticked = useTicked(targets)
  const [expires, days, owner] = [useSignal(""), useSignal(""), useSignal("")]
  const count = useSignal({ done: 0, of: 0 })
  const outcome = useSignal<DueOutcome | null>(null)
  const isUndone = useSignal(false)
  const act = useAct()
  const texts = { expires: expires.value, days: days.value, owner: owner.value }
  const fields = fieldsOf(texts)
  const change = changeOf(texts)
  const to = targets.filter(({ column }) => ticked.value.has(column.name))
  const steps = change === null ? [] : stepsOf(model.grid.value, rows, to, change)
  const apply = (all: ReadonlyArray<DueStep>, undoes: boolean) => {
    count.value = { done: 0, of: all.length }
    const note = () => {
      count.value = { ...count.peek(), done: count.peek().done + 1 }
    }
    act.run(applySteps(model.place, all, note), (found) => {
      isUndone.value = undoes
      outcome.value = found
      reload()
    })
  }
  const isBusy = act.isBusy.value
  const found = outcome.value
  return (
    <Dialog title="Set the due date of the chosen keys" busy={act.isBusy} close={close}>
      {found === null ? (
        <form
          id="bulk-due"
          onSubmit={(event) => {
            event.preventDefault()
            if (steps.length > 0) apply(steps, false)
          }}
        >
          {targets.length === 0 ? (
            <p>None of them has a secret in an environment that you may write.</p>
          ) : (
            <TargetEnvironments legend="In" targets={targets} ticked={ticked} />
          )}
          <p class="hint">What is left empty stays as it is; none takes it away.</p>
          <TextField
            label="Expires"
            text={expires}
            placeholder="2027-01-31"
            isBad={Either.isLeft(fields.expires_at)}
            hint="A date, or a date and time in UTC"
          />
          <TextField
            label="Replace every"
            text={days}
            placeholder="90"
            isBad={Either.isLeft(fields.rotate_every_days)}
            hint="Days from 1 to 3,650, counted from the current version"
          />
          <TextField
            label="Owner"
            text={owner}
            inputMode="email"
            placeholder="ops@example.com"
            isBad={Either.isLeft(fields.owner)}
            hint="Members of the organization get a mail once a week while it is due"
          />
        </form>
      ) : (
        <Outcome outcome={found} undone={isUndone.value} />
      )}
      {isBusy && (
        <p role="status">
          {count.value.done.toLocaleString("en")} of {count.value.of.toLocaleString("en")}…
        </p>
      )}
      <Problem failure={act.failure.value} />
      <footer>
        <button type="button" disabled={act.isBusy.value} onClick={close}>
          {found === null ? "Cancel" : "Close"}
        </button>
        {found === null ? (
          <button class="primary" form="bulk-due" disabled={isBusy || steps.length === 0}>
            {steps.length === 0 ? "Set" : `Set for ${secrets(steps.length)}`}
          </button>
        ) : (
          !isUndone.value &&
          found.done.length > 0 && (
            <button
              type="button"
              disabled={isBusy}
              onClick={() => {
                apply(undoOf(found.done), true)
              }}
            >
              Undo
            </button>
          )
        )}
      </footer>
    </Dialog>
  )
}
