import {
  type DelegablePermission,
  delegablePermissions,
  DelegatedKeys,
  DelegationName,
  DelegationSeconds,
  maxDelegatedEnvironments,
  type NewDelegation as Made
} from "@coffer/domain/directory/Delegation"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import type { EnvName, OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ComponentChildren } from "preact"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { type Action, useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { ChoosePlace, type PlaceChoice, usePlaceChoice } from "../../kit/ChoosePlace.js"
import { CopyText } from "../../kit/CopyText.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { OneTimeKey } from "../../kit/OneTimeKey.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { TextField } from "../../kit/TextField.js"
import { organizations } from "../../client/Organizations.js"
import { placesOf } from "./DelegatedPlaces.js"
import { type DelegationSpan, delegationSpans, delegationSpanWords, permissionHints } from "./DelegationTerms.js"

/** The permissions of the person that can be delegated. */
const delegable = (allowed: ReadonlyArray<string>) => delegablePermissions.filter((one) => allowed.includes(one))

const Terms = Schema.Struct({
  name: DelegationName,
  keys: Schema.optionalWith(DelegatedKeys, { exact: true }),
  expires_in: DelegationSeconds
})

/** The further environments that words name in the chosen project, or the problem with them. */
const furtherIn = (
  { env, envs, project }: PlaceChoice,
  words: ReadonlyArray<string>
): Either.Either<ReadonlyArray<EnvName>, string> => {
  const names = (envs.loaded.value.value?.names ?? []).filter((name) => name !== env)
  const unknown = words.find((word) => names.every((name) => name !== word))
  if (unknown !== undefined) return Either.left(`${project ?? "The project"} has no other environment ${unknown}.`)
  return words.length < maxDelegatedEnvironments
    ? Either.right(names.filter((name) => words.includes(name)))
    : Either.left(`A delegation is for at most ${maxDelegatedEnvironments} environments.`)
}

interface FormProps {
  readonly org: OrgName
  readonly act: Action
  /** Chooses the organization. */
  readonly children: ComponentChildren
  readonly done: (made: Made) => void
}

/** The permissions of the person in a place, once they are known. */
const useDelegable = (org: OrgName, { env, project }: PlaceChoice) => {
  const of = `${org}/${project ?? ""}/${env ?? ""}`
  const found = useLoad(of, () =>
    Effect.map(
      project === undefined || env === undefined ? Effect.succeed([]) : allowedIn(org, project, env),
      (allowed) => ({ of, permissions: delegable(allowed) })
    )
  )
  const { value } = found.loaded.value
  return { found, permissions: value?.of === of ? value.permissions : [] }
}

/** The form of a delegation: its recipient, its part of the person's rights in an environment, and its lifetime. */
const Form = ({ act, children, done, org }: FormProps) => {
  const choice = usePlaceChoice(org)
  const { found, permissions } = useDelegable(org, choice)
  const name = useSignal("")
  const keys = useSignal("")
  const others = useSignal("")
  const chosen = useSignal<DelegablePermission>("read")
  const span = useSignal<DelegationSpan>("8 hours")
  const reveals = useSignal(true)
  const { env, project } = choice
  const permission = permissions.find((one) => one === chosen.value) ?? permissions.at(-1)
  const only = wordsOf(keys.value)
  const further = furtherIn(choice, wordsOf(others.value))
  const named = decodeForm(DelegationName, name.value.trim())
  const wrong = only.find((word) => !secretKeyForm.is(word))
  const limited = only.length === 0 ? Either.right(undefined) : decodeForm(DelegatedKeys, only)
  const problem = wrong === undefined ? Either.getLeft(limited) : Option.some(`${wrong}: ${secretKeyForm.message}`)
  const terms = decodeForm(Terms, {
    name: name.value.trim(),
    expires_in: delegationSpans[span.value],
    ...(only.length > 0 && { keys: only })
  })
  const submit = (event: Event) => {
    event.preventDefault()
    if (Either.isLeft(terms) || Either.isLeft(further)) return
    if (project === undefined || env === undefined || permission === undefined) return
    const also = further.right.map((other) => ({ project, env: other }))
    const payload = { ...terms.right, org, project, env, also, permission, reveal: reveals.value }
    act.run(
      call("delegations", (api) => api.create({ payload })),
      done
    )
  }
  return (
    <form onSubmit={submit}>
      {children}
      <ChoosePlace choice={choice} envLabel="Environment" nothing={`${org} has no project that you may see.`} />
      <TextField
        label="Also in"
        text={others}
        placeholder="no other environment"
        isBad={Either.isLeft(further)}
        hint={Either.match(further, {
          onLeft: (words) => words,
          onRight: () => `Other environments of ${project ?? "the project"}, separated by commas. Optional.`
        })}
      />
      <TextField
        label="For"
        text={name}
        placeholder="claude"
        maxLength={64}
        isBad={name.value !== "" && Either.isLeft(named)}
        hint="Who or what uses it, as the audit log names it: letters, digits, spaces, dots, underscores and hyphens."
      />
      {env !== undefined && (
        <Reading of={found}>
          {() =>
            permission === undefined ? (
              permissions.length === 0 && (
                <p class="hint bad">You have no permission in {env} that you could delegate.</p>
              )
            ) : (
              <>
                <Choose label="May" value={permission} words={permissions} choose={(word) => (chosen.value = word)} />
                <p class="hint">{permissionHints[permission]}</p>
              </>
            )
          }
        </Reading>
      )}
      <Choose
        label="For how long"
        value={span.value}
        words={delegationSpanWords}
        choose={(word) => (span.value = word)}
      />
      <TextField
        label="Only these keys"
        text={keys}
        placeholder="all keys"
        isBad={Option.isSome(problem)}
        hint={Option.getOrElse(problem, () => "Separated by commas. Empty: all keys.")}
      />
      {permission !== "use" && (
        <Check isChecked={reveals.value} choose={(isChecked) => (reveals.value = isChecked)}>
          It may see values. Without, it only lists and {permission === "write" ? "writes" : "compares"} keys.
        </Check>
      )}
      <Problem failure={act.failure.value} />
      <footer>
        <button
          class="primary"
          disabled={act.isBusy.value || permission === undefined || Either.isLeft(terms) || Either.isLeft(further)}
        >
          Delegate
        </button>
      </footer>
    </form>
  )
}

/** The token, and how a machine gets it. */
const Token = ({ changed, made }: { readonly made: Made; readonly changed: () => void }) => {
  const { id, name, token } = made
  const line = `coffer delegate store --server-url ${location.origin}`
  return (
    <>
      <OneTimeKey
        of={name}
        text={Redacted.value(token)}
        stored="Coffer stores a hash of it."
        what="token"
        revoke={{
          word: "Revoke the delegation",
          effect: call("delegations", (api) => api.revoke({ path: { delegation_id: id } })),
          done: changed
        }}
      />
      <p>
        Run this where it is used, and paste the token. Commands without a terminal then take it in {placesOf(made)}.
      </p>
      <pre class="code-lines" tabIndex={0}>
        {line}
      </pre>
      <p class="row">
        <CopyText label="Copy the line" text={line} />
      </p>
    </>
  )
}

interface NewDelegationProps {
  readonly changed: () => void
  readonly close: () => void
}

/** Delegates a part of the person's rights, and shows the token once. */
export const NewDelegation = ({ changed, close }: NewDelegationProps) => {
  const own = organizations.value.map(({ name }) => name)
  const chosen = useSignal(own[0])
  const made = useSignal<Made | null>(null)
  const act = useAct()
  const org = own.find((name) => name === chosen.value)
  if (made.value !== null) {
    return (
      <Dialog title={`Delegated to ${made.value.name}`} close={close}>
        <Token made={made.value} changed={changed} />
      </Dialog>
    )
  }
  return (
    <Dialog title="New delegation" busy={act.isBusy} close={close}>
      {org === undefined ? (
        <p>You are in no organization yet.</p>
      ) : (
        <Form
          org={org}
          act={act}
          done={(next) => {
            made.value = next
            changed()
          }}
        >
          <Choose label="Organization" value={org} words={own} choose={(word) => (chosen.value = word)} />
        </Form>
      )}
    </Dialog>
  )
}
