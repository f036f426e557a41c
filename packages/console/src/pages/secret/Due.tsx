import type { SecretPath } from "@coffer/domain/api/Paths"
import { Expiry, RotationDays } from "@coffer/domain/secrets/Due"
import { dueStateAt } from "@coffer/domain/secrets/DueState"
import type { MatrixCell, MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { Email } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Fold } from "../../kit/Fold.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { noteDone } from "../../state/Done.js"
import { wallMillis } from "../../state/ServerTime.js"

interface DueProps {
  readonly path: SecretPath
  readonly env: MatrixEnvironment
  readonly cell: MatrixCell
  readonly changed: () => void
}

/** A field that may be empty, which takes away what it was. */
const orNone = <A, I>(
  schema: Schema.Schema<A, I>,
  text: string,
  parse: (text: string) => unknown = (same) => same
): Either.Either<A | null, unknown> =>
  text.trim() === "" ? Either.right(null) : Schema.decodeUnknownEither(schema)(parse(text.trim()))

const states = { due: "due soon", overdue: "overdue" }

/** When a secret is due and its owner, folded, with a form for whoever may write. */
export const Due = ({ cell, changed, env, path }: DueProps) => {
  const { due_at, expires_at, owner, rotate_every_days, turn_at } = cell
  const act = useAct()
  const texts = [
    expires_at?.replace("T00:00:00.000Z", "") ?? "",
    rotate_every_days === undefined ? "" : String(rotate_every_days),
    owner ?? ""
  ] as const
  const [expires, days, who] = [useSignal(texts[0]), useSignal(texts[1]), useSignal<string>(texts[2])]
  const isTried = useSignal(false)
  const given = {
    expires_at: orNone(Expiry, expires.value),
    rotate_every_days: orNone(RotationDays, days.value, Number),
    owner: orNone(Email, who.value)
  }
  const isBad = (field: Either.Either<unknown, unknown>) => isTried.value && Either.isLeft(field)
  const state = dueStateAt(due_at, wallMillis())
  const submit = () => {
    isTried.value = true
    const payload = Either.all(given)
    if (Either.isLeft(payload)) return
    const set = (terms: typeof payload.right) => call("dues", (api) => api.update({ path, payload: terms }))
    const before = {
      expires_at: expires_at ?? null,
      rotate_every_days: rotate_every_days ?? null,
      owner: owner ?? null
    }
    const takenBack = () => {
      ;[expires.value, days.value, who.value] = texts
      changed()
    }
    act.run(set(payload.right), () => {
      changed()
      noteDone(`The due date of ${path.key} in ${path.env_name} was saved.`, { effect: set(before), done: takenBack })
    })
  }
  const summary = (
    <>
      {due_at === undefined ? (
        "It is never due."
      ) : (
        <>
          Due on <time dateTime={due_at}>{due_at.slice(0, 10)}</time>
          {due_at === turn_at && ", by its rotation"}
          {state !== null && <span class={`badge due-${state}`}>{states[state]}</span>}
        </>
      )}
      {owner !== undefined && ` Owner: ${owner}`}
    </>
  )
  return (
    <Fold title="Due date" class="secret-due" summary={summary}>
      {!env.allowed.includes("write") && <p class="quiet">To change it, one needs a rule with the permission write.</p>}
      {env.allowed.includes("write") && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          <TextField
            label="Expires"
            text={expires}
            placeholder="2027-01-31"
            isBad={isBad(given.expires_at)}
            hint="A date, or a date and time in UTC; empty: never"
          />
          <TextField
            label="Replace every"
            text={days}
            placeholder="90"
            isBad={isBad(given.rotate_every_days)}
            hint="Days from 1 to 3,650, counted from the current version; empty: at any age. A rotation replaces it instead"
          />
          <TextField
            label="Owner"
            text={who}
            inputMode="email"
            placeholder="ops@example.com"
            isBad={isBad(given.owner)}
            hint="Members of the organization get a mail once a week while it is due"
          />
          <Problem failure={act.failure.value} />
          <button disabled={act.isBusy.value}>Save the due date</button>
        </form>
      )}
    </Fold>
  )
}
