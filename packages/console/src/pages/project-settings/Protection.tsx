import { defined } from "@coffer/domain/base/Defined"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { type Approvers, type Protection, protectionTerms, maxNeeded } from "@coffer/domain/access/Protection"
import { body } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { call } from "../../client/Calls.js"
import { type Action, useAct } from "../../kit/Act.js"
import { votersOf } from "../../kit/Approvers.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { TextField } from "../../kit/TextField.js"
import { When } from "../../kit/When.js"
import { noteDone } from "../../state/Done.js"
import { me } from "../../state/Session.js"
import { ProtectionProblem } from "./ProtectionProblem.js"

const Terms = body(protectionTerms)

const labels = { approvers: "People", break_glass: "Break glass", expires_after: "A request waits" }

const counts = Array.from({ length: maxNeeded }, (_, index) => String(index + 1))
const approverWords = ["owners", "admins and owners", "these people"] as const
type ApproverWord = (typeof approverWords)[number]

const wordOf = (approvers: Approvers): ApproverWord =>
  approvers === "owners" ? "owners" : approvers === "admins" ? "admins and owners" : "these people"

const approversOf = (word: ApproverWord, people: string) =>
  word === "owners" ? "owners" : word === "admins and owners" ? "admins" : wordsOf(people)

interface ProtectionProps {
  readonly path: EnvPath
  readonly isProtected: boolean
  /** The right to change it that is missing, in words; null if none is. */
  readonly why: string | null
  readonly close: () => void
  readonly changed: () => void
}

interface Found {
  readonly now: Protection | null
}

/** Warnings for owners about a protection: changes that could not be made. */
const Warnings = ({ now: { stuck, without_voters: alone } }: { readonly now: Protection }) => (
  <>
    {stuck === true && (
      <p class="hint bad" role="status">
        Nobody could give its votes as things are. Let somebody else vote, or ask a superadmin of the server, who may
        end the protection at once.
      </p>
    )}
    {alone !== undefined && (
      <p class="hint" role="status">
        Nobody else would vote on the changes of <bdi>{alone.join(", ")}</bdi>: those could not be made.
      </p>
    )}
  </>
)

const remove = (path: EnvPath, etag: string | undefined) =>
  call("protections", (api) => api.remove({ path, headers: defined({ "if-match": etag }) }))

/** Says what became of a protection. Its undo may need votes: then it becomes a request. */
const note = (path: EnvPath, before: Protection | null, now: Protection | null, done: () => void): void => {
  const { env_name: name } = path
  const what =
    now === null
      ? `${name} is not protected any more.`
      : before === null
        ? `${name} is protected: each change needs ${votersOf(now)}.`
        : `The protection of ${name} was changed.`
  const set = ({ approvers, break_glass, expires_after, needed, passkey, self }: Protection) =>
    Either.map(decodeForm(Terms, { approvers, break_glass, expires_after, needed, passkey, self }), (payload) =>
      call("protections", (api) => api.set({ path, headers: defined({ "if-match": now?.etag }), payload }))
    )
  const undo = before === null ? Either.right(remove(path, now?.etag)) : set(before)
  noteDone(what, Either.isRight(undo) ? { effect: undo.right, done } : null)
}

interface FormProps extends ProtectionProps, Found {
  readonly act: Action
}

/** The requirements of a protection, read-only. */
const Facts = ({ now }: { readonly now: Protection }) => (
  <dl class="facts">
    <dt>Votes</dt>
    <dd>{votersOf(now)}</dd>
    <dt>Own vote</dt>
    <dd>{now.self ? "counts" : "does not count"}</dd>
    <dt>Break glass</dt>
    <dd>{now.break_glass.length === 0 ? "nobody" : now.break_glass.join(", ")}</dd>
    <dt>A request waits</dt>
    <dd>{now.expires_after}</dd>
    {now.passkey && (
      <>
        <dt>Each vote</dt>
        <dd>needs a passkey</dd>
      </>
    )}
  </dl>
)

const Form = ({ act, changed, close, now, path }: FormProps) => {
  const before = now?.approvers ?? "admins"
  const needed = useSignal(String(now?.needed ?? 1))
  const approvers = useSignal(wordOf(before))
  const people = useSignal(typeof before === "string" ? "" : before.join(" "))
  const glass = useSignal(now?.break_glass.join(" ") ?? "")
  const span = useSignal(now?.expires_after ?? "72h")
  const [self, passkey] = [useSignal(now?.self ?? false), useSignal(now?.passkey ?? false)]
  const primary = useRef<HTMLButtonElement>(null)
  /** Takes a way out of a refusal. The button that was pressed goes with the refusal. */
  const choose = (way: () => void) => {
    way()
    act.clear()
    primary.current?.focus()
  }
  const terms = decodeForm(
    Terms,
    {
      needed: Number(needed.value),
      approvers: approversOf(approvers.value, people.value),
      self: self.value,
      break_glass: wordsOf(glass.value),
      expires_after: span.value.trim(),
      passkey: passkey.value
    },
    labels
  )
  const save = () => {
    if (Either.isLeft(terms)) return
    const payload = terms.right
    act.run(
      call("protections", (api) => api.set({ path, headers: defined({ "if-match": now?.etag }), payload })),
      (after) => {
        changed()
        note(path, now, after, changed)
      }
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <div class="fields">
        <Choose label="Approvals needed" value={needed.value} words={counts} choose={(word) => (needed.value = word)} />
        <Choose label="By" value={approvers.value} words={approverWords} choose={(word) => (approvers.value = word)} />
        <TextField label="A request waits" text={span} maxLength={7} hint="such as 90m, 72h or 7d" />
      </div>
      {approvers.value === "these people" && (
        <TextField label="People" text={people} placeholder="grace@example.com, bob@example.com" />
      )}
      <TextField
        label="Break glass"
        text={glass}
        placeholder="grace@example.com"
        hint="People who may change it at once, with a reason that all owners are mailed; empty: nobody"
      />
      <div class="protection-checks">
        <Check isChecked={self.value} choose={(isChecked) => (self.value = isChecked)}>
          The requester's own vote counts
        </Check>
        <Check isChecked={passkey.value} choose={(isChecked) => (passkey.value = isChecked)}>
          Each vote needs a passkey
        </Check>
      </div>
      {Either.isLeft(terms) && (
        <p class="hint bad" role="status">
          {terms.left}
        </p>
      )}
      {now !== null && (
        <p class="hint">
          What makes the protection stricter is done at once. Anything else, and its end, becomes a request that needs{" "}
          {votersOf(now)}.
        </p>
      )}
      <ProtectionProblem
        act={act}
        org={path.org_name}
        verb={now === null ? "Protect" : "Save"}
        countOwn={() => choose(() => (self.value = true))}
        breakGlass={() => choose(() => (glass.value = [...wordsOf(glass.value), me.value?.email ?? ""].join(", ")))}
      />
      <footer>
        {now !== null && (
          <>
            <button
              type="button"
              disabled={act.isBusy.value}
              onClick={() => {
                act.run(remove(path, now.etag), () => {
                  changed()
                  note(path, now, null, changed)
                })
              }}
            >
              End the protection
            </button>
            <span class="space" />
          </>
        )}
        <button type="button" disabled={act.isBusy.value} onClick={close}>
          Cancel
        </button>
        <button ref={primary} class="primary" disabled={act.isBusy.value || Either.isLeft(terms)}>
          {now === null ? "Protect" : "Save"}
        </button>
      </footer>
    </form>
  )
}

/** How an environment is protected, with a form for owners. */
export const ProtectionDialog = (props: ProtectionProps) => {
  const { isProtected, path, why } = props
  const act = useAct()
  const found = useLoad("protection", () =>
    isProtected
      ? Effect.map(
          call("protections", (api) => api.get({ path })),
          (now): Found => ({ now })
        )
      : Effect.succeed<Found>({ now: null })
  )
  return (
    <Dialog title={`Protection of ${path.project_name}/${path.env_name}`} busy={act.isBusy} close={props.close}>
      <Reading of={found}>
        {({ now }) => (
          <>
            <p>
              {now === null
                ? "Not protected: whoever may write changes it at once. With a protection, each change waits for the votes of other people."
                : "Each change waits for votes."}
              {now !== null && (
                <span class="quiet">
                  {" "}
                  Set by {now.updated_by} <When time={now.updated_at} />.
                </span>
              )}
            </p>
            {now !== null && <Warnings now={now} />}
            {why === null ? (
              <Form {...props} act={act} now={now} />
            ) : (
              <>
                {now !== null && <Facts now={now} />}
                <p class="quiet">To change it, one {why}.</p>
              </>
            )}
          </>
        )}
      </Reading>
    </Dialog>
  )
}

/** Says that nobody could vote on an environment, on the page of those who can help. */
export const StuckNote = ({ path }: { readonly path: EnvPath }) => {
  const { loaded } = useLoad(`protection of ${path.project_name}/${path.env_name}`, () =>
    call("protections", (api) => api.get({ path }))
  )
  return loaded.value.value?.stuck === true ? (
    <p class="hint bad" role="status">
      Nobody could vote on its changes: open its protection.
    </p>
  ) : null
}
