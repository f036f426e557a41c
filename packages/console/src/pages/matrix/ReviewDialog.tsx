import { isReason, reasonForm } from "@coffer/domain/base/ReasonForm"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { useEffect, useState } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Dialog } from "../../kit/Dialog.js"
import { invisibleIn } from "../../kit/Invisible.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Shield } from "../../kit/Shield.js"
import { StoredText } from "../../kit/StoredText.js"
import { TextField } from "../../kit/TextField.js"
import { When } from "../../kit/When.js"
import { ChangeTable } from "../../staging/ChangeTable.js"
import { RefusedList } from "../../staging/RefusedList.js"
import { type WriteResult, type Refused, review, send } from "../../staging/Writes.js"
import { type Change, changeOf, rebase, type Staged, type StagedEnv, withoutEnv } from "../../staging/Staged.js"
import { suggestedReason } from "../../state/Approval.js"
import { isConnected } from "../../state/Connection.js"
import { inOrder, type Model } from "./Model.js"
import { Votes } from "./Votes.js"

interface ReviewProps {
  readonly model: Model
  readonly reload: () => void
  readonly close: () => void
}

type Written = Extract<WriteResult, { readonly type: "written" }>
/** Whether the connection was lost while the server was asked. */
const isCut = (result: WriteResult): boolean => result.type === "refused" && result.failure._tag === "ServerUnreachable"

type Conflict = Extract<WriteResult, { readonly type: "conflict" }>

/** A value this much shorter than the one that it replaces may have been cut by a slip. */
const shortened = 4

interface NoteProps {
  readonly change: Change | null
  readonly isEqual: boolean
}

const LengthNote = ({ change, isEqual }: NoteProps) => {
  if (change?.type !== "set") return null
  const { length } = Redacted.value(change.value)
  const { replaced = 0 } = change
  if (length === 0) return <span class="badge warn">empty text</span>
  if (isEqual) return <span class="badge">equal to what is stored</span>
  if (length * shortened <= replaced) {
    return (
      <span class="badge warn">
        much shorter: {length.toLocaleString("en")} instead of {replaced.toLocaleString("en")} characters
      </span>
    )
  }
  return (
    <span class="quiet change-length">
      {length.toLocaleString("en")} {length === 1 ? "character" : "characters"}
    </span>
  )
}

/** Remarks on a new value, without showing it. */
const ValueNote = (props: NoteProps) => {
  const { change } = props
  const invisible = change?.type === "set" ? invisibleIn(Redacted.value(change.value)) : null
  return (
    <>
      <LengthNote {...props} /> {invisible !== null && <span class="badge warn">{invisible}</span>}
    </>
  )
}

interface ConflictProps {
  readonly result: Conflict
  readonly keep: () => void
  readonly drop: () => void
}

const ConflictNote = ({ result, drop, keep }: ConflictProps) => (
  <div class="problem" role="alert">
    <div>
      <p>
        <strong>{result.env}</strong> has changed since you began. Nothing was written to it, and your changes are kept.
      </p>
      <ul>
        {result.between.map(({ staged, revision: { created_at, created_by, keys, revision } }) => (
          <li key={revision}>
            {created_by ?? "Somebody"}, <When time={created_at} />:{" "}
            {keys.map(({ change, key }) => (
              <span key={key}>
                {change} <span class="key">{key}</span>
                {staged.includes(key) && <strong> (yours too)</strong>}{" "}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </div>
    <div class="row">
      <button type="button" onClick={keep}>
        Keep mine in {result.env}
      </button>
      <button type="button" onClick={drop}>
        Drop mine in {result.env}
      </button>
    </div>
  </div>
)

const deletedIn = ({ written }: Written): number => written.data.filter(({ change }) => change === "deleted").length

const lossOf = (losing: ReadonlyArray<Written>): string => {
  const parts = losing.map((result) => {
    const count = deletedIn(result)
    return `${count.toLocaleString("en")} ${count === 1 ? "secret" : "secrets"} of ${result.env}`
  })
  const isOne = losing.reduce((sum, result) => sum + deletedIn(result), 0) === 1
  return `${parts.join(" and ")} will be removed. ${isOne ? "It can" : "They can"} be restored on ${isOne ? "its page" : "their pages"}.`
}

/** Changes with the comment of the person, which keeps the note of an import behind it where there is room. */
const withNote = (changes: StagedEnv, comment: string): StagedEnv => {
  if (comment === "") return changes
  const both = `${comment} (${changes.note ?? ""})`
  return { ...changes, note: changes.note !== undefined && isReason(both) ? both : comment }
}

/** All staged changes as one diff, as the server sees them; then writes them, environment by environment. */
export const ReviewDialog = ({ close, model, reload }: ReviewProps) => {
  const { place, staging } = model
  const [round, setRound] = useState(0)
  const dryRun = useLoad(`review ${round}`, () => review(place, inOrder(model, staging.staged.peek())))
  const isShown = useSignal(false)
  const typed = useSignal("")
  const comment = useSignal("")
  const text = comment.value.trim()
  const isGood = text === "" || isReason(text)
  const failures = useSignal<ReadonlyArray<Refused>>([])
  const act = useAct()
  const guarded = new Set(model.grid.value.columns.flatMap((one) => (one.protected === true ? [one.name] : [])))

  const settle = (result: WriteResult) =>
    Effect.sync(() => {
      if (result.type !== "written" && result.type !== "requested") return
      const { env } = result
      staging.drop((staged) => withoutEnv(staged, env))
      if (result.type === "requested") return
      const { etag } = result
      if (result.written.data.every(({ change }) => change === "unchanged")) return
      const before = model.sent.peek().filter((sent) => sent.env !== env)
      model.sent.value = [...before, { env, revision: result.written.revision, etag }]
    })

  const again = () => {
    failures.value = []
    setRound((before) => before + 1)
  }
  // A review that a lost connection interrupted is repeated when the server responds again.
  const isBack = isConnected.value
  useEffect(() => {
    if (isBack && (dryRun.loaded.peek().value?.results.some(isCut) ?? false)) again()
  }, [isBack])

  useEffect(
    () => () => {
      suggestedReason.value = ""
    },
    []
  )

  /** Writes what was reviewed, environment by environment. Each settles alone: what follows a failure stays staged. */
  const write = (found: ReadonlyArray<Written>, reviewed: Staged) => {
    const all = Effect.forEach(found, ({ env }) => {
      const changes = reviewed.get(env)
      return changes === undefined
        ? Effect.succeed(null)
        : Effect.tap(send(place, env, withNote(changes, text)), settle)
    })
    suggestedReason.value = text
    act.run(all, (done) => {
      reload()
      failures.value = done.flatMap((result) => (result?.type === "refused" ? [result] : []))
      if (staging.staged.peek().size === 0) close()
      else setRound(round + 1)
    })
  }

  return (
    <Dialog title="Review" class="wide" busy={act.isBusy} close={close}>
      <Reading of={dryRun}>
        {({ results: found, staged: reviewed }) => {
          const ready = found.filter((result) => result.type === "written")
          const conflicts = found.filter((result) => result.type === "conflict")
          const refused = found.filter((result) => result.type === "refused")
          const losing = ready.filter((result) => deletedIn(result) > 0)
          const name = losing.map(({ env }) => env).join(" ")
          const isRequest = ready.length > 0 && ready.every(({ env }) => guarded.has(env))
          const isConfirmed = name === "" || typed.value === name
          return (
            <>
              {conflicts.map((result) => (
                <ConflictNote
                  key={result.env}
                  result={result}
                  keep={() => {
                    staging.change((staged) => rebase(staged, result.env, result.base))
                    setRound(round + 1)
                  }}
                  drop={() => {
                    staging.change((staged) => withoutEnv(staged, result.env))
                    setRound(round + 1)
                  }}
                />
              ))}
              {ready.map((result) => (
                <ChangeTable
                  key={result.env}
                  env={result.env}
                  mark={guarded.has(result.env) && <Shield />}
                  written={result.written}
                  note={({ change, key }) => {
                    const own = changeOf(reviewed, result.env, key)
                    return (
                      <>
                        <ValueNote change={own} isEqual={change === "unchanged"} />
                        {isShown.value && own?.type === "set" && (
                          <output class="matrix-value">
                            <StoredText text={Redacted.value(own.value)} />
                          </output>
                        )}
                      </>
                    )
                  }}
                />
              ))}
              <RefusedList
                refused={refused}
                what={refused.every(isCut) ? "was not asked about yet" : "cannot be written as it is staged"}
                retry={again}
              />
              <RefusedList refused={failures.value} what="was not written, and its changes stay staged" />
              {ready.length > 0 && (
                <TextField
                  label="Comment (optional)"
                  text={comment}
                  maxLength={reasonForm.maxLength}
                  isBad={!isGood}
                  hint={isGood ? "For the history, on one line" : reasonForm.message}
                />
              )}
              {name !== "" && (
                <p>
                  <label for="review-name">
                    {lossOf(losing)} Type <code>{name}</code> to continue.
                  </label>
                  <input
                    id="review-name"
                    data-passing
                    autocomplete="off"
                    spellcheck={false}
                    value={typed.value}
                    onInput={({ currentTarget }) => {
                      typed.value = currentTarget.value
                    }}
                  />
                </p>
              )}
              <Votes place={place} envs={ready.flatMap(({ env }) => (guarded.has(env) ? [env] : []))} />
              <footer>
                <Check
                  isChecked={isShown.value}
                  choose={(isChecked) => {
                    isShown.value = isChecked
                  }}
                >
                  Show new values
                </Check>
                <span class="space" />
                <button type="button" disabled={act.isBusy.value} onClick={close}>
                  Back
                </button>
                <button
                  type="button"
                  class={name === "" ? "primary" : "danger"}
                  disabled={act.isBusy.value || ready.length === 0 || !isConfirmed || !isGood}
                  onClick={() => {
                    write(ready, reviewed)
                  }}
                >
                  {ready.length === 0
                    ? refused.some(isCut)
                      ? "Write"
                      : "Nothing to write"
                    : `${isRequest ? "Request for" : "Write to"} ${ready.map(({ env }) => env).join(", ")}`}
                </button>
              </footer>
            </>
          )
        }}
      </Reading>
    </Dialog>
  )
}
