import { useSignal } from "@preact/signals"
import { Effect, Either, Redacted } from "effect"
import type { Failure } from "../../client/Calls.js"
import { useState } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { type Answer, review, send } from "../../staging/Sending.js"
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
              {own?.type === "set" && Redacted.value(own.value) === "" && <span class="badge warn">empty text</span>}
              {own?.type === "set" && change === "unchanged" && <span class="badge">equal to what is stored</span>}
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

interface ConflictProps {
  readonly answer: Conflict
  readonly keep: () => void
  readonly drop: () => void
}

const ConflictNote = ({ answer, drop, keep }: ConflictProps) => (
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
    <div class="row">
      <button type="button" onClick={keep}>
        Keep mine in {answer.env}
      </button>
      <button type="button" onClick={drop}>
        Drop mine in {answer.env}
      </button>
    </div>
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
  const failures = useSignal<ReadonlyArray<{ readonly env: string; readonly failure: Failure }>>([])
  const act = useAct()

  const settle = (answer: Answer) => {
    if (answer.type !== "written") return
    const { env, etag } = answer
    staging.forget((staged) => withoutEnv(staged, env))
    if (answer.answer.data.every(({ change }) => change === "unchanged")) return
    model.sent.value = [...model.sent.peek(), { env, revision: answer.answer.revision, etag }]
  }

  /** Writes what was reviewed, environment by environment. Each settles alone: what follows a failure stays staged. */
  const write = (found: ReadonlyArray<Written>, reviewed: Staged) => {
    const one = ({ env }: Written) => {
      const changes = reviewed.get(env)
      return changes === undefined
        ? Effect.succeed(true)
        : Effect.map(send(place, env, changes), (answer) => {
            settle(answer)
            return answer.type === "written"
          })
    }
    model.sent.value = []
    const all = Effect.forEach(found, (answer) => Effect.either(one(answer)))
    act.run(all, (done) => {
      reload()
      failures.value = done.flatMap((result, index) =>
        Either.isLeft(result) ? [{ env: found[index]?.env ?? "", failure: result.left }] : []
      )
      if (done.every((result) => Either.isRight(result) && result.right)) close()
      else setRound(round + 1)
    })
  }

  return (
    <Dialog title="Review" class="wide" close={close}>
      <Reading of={answers}>
        {({ answers: found, staged: reviewed }) => {
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
                  drop={() => {
                    staging.change((staged) => withoutEnv(staged, answer.env))
                    setRound(round + 1)
                  }}
                />
              ))}
              {ready.map((answer) => (
                <section key={answer.env}>
                  <h3>{answer.env}</h3>
                  <ChangeList answer={answer} isShown={isShown.value} staged={reviewed} />
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
              {failures.value.map(({ env, failure }) => (
                <div key={env}>
                  <p>
                    <strong>{env}</strong> was not written, and its changes are kept:
                  </p>
                  <Problem failure={failure} />
                </div>
              ))}
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
                    write(ready, reviewed)
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
