import { useSignal } from "@preact/signals"
import { Effect, Redacted } from "effect"
import { useState } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { type Answer, review, send, type Sent } from "../../staging/Sending.js"
import { changeOf, rebase, type Staged, withoutEnv } from "../../staging/Staged.js"
import type { Model } from "./Model.js"

interface ReviewProps {
  readonly model: Model
  readonly reload: () => void
  readonly close: () => void
}

type Written = Extract<Answer, { readonly type: "written" }>
type Conflict = Extract<Answer, { readonly type: "conflict" }>

const words: Readonly<Record<string, string>> = {
  created: "create",
  updated: "change",
  deleted: "delete",
  unchanged: "no change"
}

const problems: Readonly<Record<string, string>> = {
  breaks_pattern: "breaks its pattern",
  required: "is required here"
}

const ChangeList = ({ answer, isShown, staged }: { answer: Written; isShown: boolean; staged: Staged }) => (
  <table class="list review-list">
    <caption class="hidden">Changes of {answer.env}</caption>
    <thead class="hidden">
      <tr>
        <th scope="col">Change</th>
        <th scope="col">Key</th>
        <th scope="col">Version</th>
      </tr>
    </thead>
    <tbody>
      {answer.answer.data.map(({ change, key, version }) => {
        const own = changeOf(staged, answer.env, key)
        return (
          <tr key={key}>
            <td>
              <span class={`badge review-${change}`}>{words[change] ?? change}</span>
            </td>
            <td>
              <span class="key">{key}</span>
              {(answer.answer.warnings ?? []).map(
                (warning) =>
                  warning.key === key && (
                    <span key={warning.problem} class="badge warn">
                      {problems[warning.problem] ?? warning.problem}
                    </span>
                  )
              )}
              {isShown && own?.type === "set" && <output class="matrix-value">{Redacted.value(own.value)}</output>}
            </td>
            <td class="quiet">
              {change === "updated" && `v${version - 1} → v${version}`}
              {change === "created" && `v${version}`}
            </td>
          </tr>
        )
      })}
    </tbody>
  </table>
)

const ConflictNote = ({ answer, keep }: { readonly answer: Conflict; readonly keep: () => void }) => (
  <div class="problem" role="alert">
    <div>
      <p>
        <strong>{answer.env}</strong> has changed since you began. Nothing was written to it, and your changes are kept.
      </p>
      <ul>
        {answer.between.map(({ mine, revision: { created_at, created_by, keys, revision } }) => (
          <li key={revision}>
            {created_by ?? "Somebody"}, <When time={created_at} />:{" "}
            {keys.map(({ change, key }) => (
              <span key={key}>
                {change} <span class="key">{key}</span>
                {mine.includes(key) && <strong> (yours too)</strong>}{" "}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
    <button type="button" onClick={keep}>
      Keep mine on top of that
    </button>
  </div>
)

const deletedIn = ({ answer }: Written): number => answer.data.filter(({ change }) => change === "deleted").length

const lossOf = (losing: ReadonlyArray<Written>): string => {
  const parts = losing.map((answer) => {
    const count = deletedIn(answer)
    return `${count.toLocaleString("en")} ${count === 1 ? "secret" : "secrets"} of ${answer.env}`
  })
  const isOne = losing.reduce((sum, answer) => sum + deletedIn(answer), 0) === 1
  return `${parts.join(" and ")} will be removed. ${isOne ? "It can" : "They can"} be restored on ${isOne ? "its page" : "their pages"}.`
}

/** What is staged, in the order of the columns. */
const inOrder = ({ grid, staging }: Model): Staged => {
  const staged = staging.staged.peek()
  return new Map(
    grid.peek().columns.flatMap(({ name }) => {
      const changes = staged.get(name)
      return changes === undefined ? [] : [[name, changes] as const]
    })
  )
}

/** All staged changes as one diff, as the server sees them; then writes them, environment by environment. */
export const ReviewDialog = ({ close, model, reload }: ReviewProps) => {
  const { place, staging } = model
  const [round, setRound] = useState(0)
  const answers = useLoad(`review ${round}`, () => review(place, inOrder(model)))
  const isShown = useSignal(false)
  const typed = useSignal("")
  const act = useAct()

  const write = (found: ReadonlyArray<Written>) => {
    const one = ({ env }: Written) => {
      const changes = staging.staged.peek().get(env)
      return changes === undefined ? Effect.succeed(null) : send(place, env, changes)
    }
    act.run(Effect.forEach(found, one), (done) => {
      const written = done.flatMap((answer) => (answer?.type === "written" ? [answer] : []))
      staging.forget((staged) => written.reduce((rest, { env }) => withoutEnv(rest, env), staged))
      model.sent.value = written
        .filter(({ answer }) => answer.data.some(({ change }) => change !== "unchanged"))
        .map(({ answer: { revision }, env, etag }): Sent => ({ env, revision, etag }))
      reload()
      if (done.every((answer) => answer?.type === "written")) close()
      else setRound(round + 1)
    })
  }

  return (
    <Dialog title="Review" class="wide" close={close}>
      <Reading of={answers}>
        {(found) => {
          const ready = found.filter((answer) => answer.type === "written")
          const conflicts = found.filter((answer) => answer.type === "conflict")
          const losing = ready.filter((answer) => deletedIn(answer) > 0)
          const name = losing.map(({ env }) => env).join(" ")
          const isConfirmed = name === "" || typed.value === name
          return (
            <>
              {conflicts.map((answer) => (
                <ConflictNote
                  key={answer.env}
                  answer={answer}
                  keep={() => {
                    staging.change((staged) => rebase(staged, answer.env, answer.base))
                    setRound(round + 1)
                  }}
                />
              ))}
              {ready.map((answer) => (
                <section key={answer.env}>
                  <h3>{answer.env}</h3>
                  <ChangeList answer={answer} isShown={isShown.value} staged={staging.staged.value} />
                </section>
              ))}
              {name !== "" && (
                <p>
                  <label for="review-name">
                    {lossOf(losing)} Type <code>{name}</code> to go on.
                  </label>
                  <input
                    id="review-name"
                    autocomplete="off"
                    spellcheck={false}
                    value={typed.value}
                    onInput={({ currentTarget }) => {
                      typed.value = currentTarget.value
                    }}
                  />
                </p>
              )}
              <Problem failure={act.failure.value} />
              <footer>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={isShown.value}
                    onChange={({ currentTarget }) => {
                      isShown.value = currentTarget.checked
                    }}
                  />{" "}
                  Show new values
                </label>
                <span class="space" />
                <button type="button" onClick={close}>
                  Back
                </button>
                <button
                  type="button"
                  class={name === "" ? "primary" : "danger"}
                  disabled={act.isBusy.value || ready.length === 0 || !isConfirmed}
                  onClick={() => {
                    write(ready)
                  }}
                >
                  Write to {ready.map(({ env }) => env).join(", ")}
                </button>
              </footer>
            </>
          )
        }}
      </Reading>
    </Dialog>
  )
}
