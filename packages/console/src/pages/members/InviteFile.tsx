import type { CsvMistake } from "@coffer/domain/base/Csv"
import {
  invitationExample,
  maxInvitationBytes,
  type PlannedInvitation,
  planInvitations,
  readInvitations,
  ruleText
} from "@coffer/domain/access/Invitations"
import { type Role, roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import { useComputed, useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { Table } from "../../kit/Table.js"
import { inviteWithRules } from "./Inviting.js"

type Mistakes = readonly [CsvMistake, ...ReadonlyArray<CsvMistake>]
type Plan = Either.Either<ReadonlyArray<PlannedInvitation>, Mistakes>

const tooLarge = { line: 1, problem: `the file is larger than ${maxInvitationBytes / 1024} KB: split it` }

const planOf = (org: OrgName, text: string, role: Role) =>
  Effect.gen(function* () {
    const people = text.length > maxInvitationBytes ? Either.left<Mistakes>([tooLarge]) : readInvitations(text)
    if (Either.isLeft(people)) return Either.left(people.left)
    const path = { org_name: org }
    const [members, rules] = yield* Effect.all(
      [call("members", (api) => api.list({ path })), call("acl", (api) => api.list({ path }))],
      { concurrency: 2 }
    )
    return Either.right(planInvitations(people.right, members.data, rules.data, role))
  })

const isLeft = ({ memberAs, rules }: PlannedInvitation): boolean => memberAs === undefined || rules.length > 0

const Row = ({ invitation, memberAs, role, rules }: PlannedInvitation) => (
  <tr>
    <th scope="row">{invitation.email}</th>
    <td>{memberAs === undefined ? role : <span class="quiet">is {memberAs} already</span>}</td>
    <td>
      {rules.map((rule) => (
        <div key={ruleText(rule)}>
          {ruleText(rule)} {rule.before !== undefined && <span class="badge warn">is {rule.before}</span>}
        </div>
      ))}
    </td>
  </tr>
)

const maxShown = 20

const Mistakes = ({ mistakes }: { readonly mistakes: Mistakes }) => (
  <div class="problem" role="alert">
    <ul>
      {mistakes.slice(0, maxShown).map(({ line, problem }) => (
        <li key={`${line} ${problem}`}>
          Line {line}: {sentence(problem)}
        </li>
      ))}
      {mistakes.length > maxShown && <li>and {mistakes.length - maxShown} more</li>}
    </ul>
  </div>
)

interface InviteFileProps {
  readonly org: OrgName
  readonly first: string
  readonly done: () => void
  readonly close: () => void
}

/** Invites the people of a CSV file, after it has shown what that does. */
export const InviteFile = ({ close, done, first, org }: InviteFileProps) => {
  const text = useSignal(first)
  const role = useSignal<Role>("developer")
  const plan = useSignal<Plan | null>(null)
  const progress = useSignal<number | null>(null)
  const act = useAct()

  const check = () => {
    plan.value = null
    const [wanted, fallback] = [text.peek(), role.peek()]
    if (wanted.trim() === "") return
    act.run(planOf(org, wanted, fallback), (found) => {
      if (wanted === text.peek() && fallback === role.peek()) plan.value = found
      else check()
    })
  }
  useEffect(() => {
    const timer = setTimeout(check, 250)
    return () => {
      clearTimeout(timer)
    }
  }, [text.value, role.value])

  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? []
    if (file === undefined) return
    if (file.size > maxInvitationBytes) plan.value = Either.left([tooLarge])
    else void file.text().then((content) => (text.value = content))
  }
  const planned = plan.value !== null && Either.isRight(plan.value) ? plan.value.right : []
  const left = planned.filter(isLeft)
  const submit = () => {
    progress.value = 0
    const step = (person: PlannedInvitation) =>
      Effect.tap(inviteWithRules(org, person), () => Effect.sync(() => (progress.value = (progress.peek() ?? 0) + 1)))
    act.run(Effect.forEach(left, step, { discard: true }), () => {
      done()
      close()
    })
  }
  const isInviting = useComputed(() => progress.value !== null && act.isBusy.value)
  const isStopped = progress.value !== null && act.failure.value !== null
  return (
    <Dialog title="Invite many people" class="wide" busy={isInviting} close={close}>
      <div
        onDragOver={(event) => {
          event.preventDefault()
        }}
        onDrop={(event) => {
          event.preventDefault()
          take(event.dataTransfer?.files)
        }}
      >
        <p class="quiet">
          Paste or drop a CSV file with the columns email, role and rules. Rules are PROJECT/ENVIRONMENT:PERMISSION,
          with spaces between them.
        </p>
        <div class="fields">
          <Choose
            label="Role, where the file has none"
            value={role.value}
            words={roles}
            choose={(word) => (role.value = word)}
          />
          <label class="button">
            Choose a file
            <input
              type="file"
              class="hidden"
              accept=".csv,text/csv"
              onChange={({ currentTarget }) => {
                take(currentTarget.files)
              }}
            />
          </label>
        </div>
        <label class="hidden" for="invite-text">
          The people, as CSV
        </label>
        <textarea
          id="invite-text"
          rows={6}
          spellcheck={false}
          autocomplete="off"
          placeholder={invitationExample}
          value={text.value}
          disabled={isInviting.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
        />
        {plan.value !== null && Either.isLeft(plan.value) && <Mistakes mistakes={plan.value.left} />}
        {planned.length > 0 && (
          <Table label="People to invite" heads={["Person", "Role", "Rules"]}>
            {planned.map((person) => (
              <Row key={person.invitation.email} {...person} />
            ))}
          </Table>
        )}
        <p role="status">
          {progress.value !== null && `${progress.value} of ${left.length} are done.`}
          {isStopped && " Nobody is invited twice: try again to continue."}
          {plan.value !== null && Either.isRight(plan.value) && left.length === 0 && "There is nothing left to do."}
        </p>
        <Problem
          failure={act.failure.value}
          retry={() => {
            progress.value = null
            done()
            check()
          }}
        />
      </div>
      <footer>
        <button type="button" disabled={isInviting.value} onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={left.length === 0 || act.isBusy.value || isStopped}
          onClick={submit}
        >
          {left.length === 0 ? "Invite" : `Invite ${left.length}`}
        </button>
      </footer>
    </Dialog>
  )
}
