import {
  type DelegablePermission,
  delegablePermissions,
  DelegatedKeys,
  maxDelegatedEnvironments
} from "@coffer/domain/directory/Delegation"
import type { AuthorizationRequest, Consent } from "@coffer/domain/directory/Consent"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { ComponentChildren } from "preact"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { usePlaceChoice } from "../../kit/ChoosePlace.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { TextField } from "../../kit/TextField.js"
import { delegationSpans, delegationSpanWords, permissionHints } from "../account/DelegationTerms.js"
import { type LastConsent, rememberConsent } from "./LastConsent.js"

interface ConsentFormProps {
  readonly client: string
  readonly query: string
  readonly request: AuthorizationRequest
  readonly org: OrgName
  readonly last: LastConsent | undefined
  readonly refuse: ComponentChildren
  /** Chooses the organization. */
  readonly children: ComponentChildren
  readonly done: (consent: typeof Consent.Type) => void
}

/** The permissions that the program asked for at most, and that the person has in each of the environments. */
const usePermissions = (
  org: OrgName,
  project: ProjectName | undefined,
  envs: ReadonlyArray<EnvName>,
  most: DelegablePermission
) => {
  const of = `${org}/${project ?? ""}/${envs.join(",")}`
  const found = useLoad(of, () =>
    Effect.map(
      project === undefined
        ? Effect.succeed([])
        : Effect.forEach(envs, (env) => allowedIn(org, project, env), { concurrency: 4 }),
      (each) => ({
        of,
        permissions: delegablePermissions
          .slice(0, delegablePermissions.indexOf(most) + 1)
          .filter((one) => each.length > 0 && each.every((allowed) => allowed.includes(one)))
      })
    )
  )
  const { value } = found.loaded.value
  return { found, permissions: value?.of === of ? value.permissions : [] }
}

/** The part of the person's rights that the program gets. Nothing wider than the least is chosen before the person does. */
export const ConsentForm = (props: ConsentFormProps) => {
  const { children, client, done, last, org, query, refuse, request } = props
  const act = useAct()
  const choice = usePlaceChoice(org, last?.project ?? null)
  const picked = useSignal<ReadonlyArray<EnvName>>(last?.envs ?? [])
  const chosen = useSignal<DelegablePermission>(last?.permission ?? "read")
  const reveals = useSignal(last?.reveal ?? false)
  const keys = useSignal(last?.keys ?? "")
  const span = useSignal(delegationSpanWords.find((one) => one === last?.span) ?? "1 hour")
  const { envs: environments, project } = choice
  const envs = (environments.loaded.value.value?.names ?? []).filter((name) => picked.value.includes(name))
  const { found, permissions } = usePermissions(org, project, envs, request.permission)
  const permission = permissions.find((one) => one === chosen.value) ?? permissions[0]
  const only = wordsOf(keys.value)
  const limited = only.length === 0 ? Either.right(undefined) : decodeForm(DelegatedKeys, only)
  const [env, ...others] = envs
  const isTooMany = envs.length > maxDelegatedEnvironments
  const mayReveal = request.reveal && permission !== "use"
  const submit = (event: Event) => {
    event.preventDefault()
    if (project === undefined || env === undefined || permission === undefined || Either.isLeft(limited)) return
    const reveal = mayReveal && reveals.value
    const also = others.map((other) => ({ project, env: other }))
    const own = limited.right === undefined ? {} : { keys: limited.right }
    const expires_in = delegationSpans[span.value]
    act.run(
      call("consents", (api) =>
        api.create({ payload: { request: query, org, project, env, also, permission, reveal, expires_in, ...own } })
      ),
      (consent) => {
        rememberConsent({ client, org, project, envs, permission, reveal, keys: keys.value, span: span.value })
        done(consent)
      }
    )
  }
  return (
    <form onSubmit={submit}>
      {children}
      <Reading of={choice.projects}>
        {({ names }) =>
          project === undefined ? (
            names.length === 0 && <p>{org} has no project that you may see.</p>
          ) : (
            <Choose label="Project" value={project} words={names} choose={choice.chooseProject} />
          )
        }
      </Reading>
      {project !== undefined && (
        <fieldset>
          <legend>Environments</legend>
          <Reading of={environments}>
            {({ names }) =>
              names.map((name) => (
                <Check
                  key={name}
                  isChecked={picked.value.includes(name)}
                  choose={(isChecked) => {
                    const rest = picked.value.filter((one) => one !== name)
                    picked.value = isChecked ? [...rest, name] : rest
                  }}
                >
                  {name}
                </Check>
              ))
            }
          </Reading>
          {isTooMany && <p class="hint bad">At most {maxDelegatedEnvironments} environments.</p>}
        </fieldset>
      )}
      {env !== undefined && (
        <Reading of={found}>
          {() =>
            permission === undefined ? (
              <p class="hint bad">You have no permission in all of these that the program asked for.</p>
            ) : (
              <>
                <Choose label="May" value={permission} words={permissions} choose={(word) => (chosen.value = word)} />
                <p class="hint">{permissionHints[permission]}</p>
              </>
            )
          }
        </Reading>
      )}
      {mayReveal && (
        <Check isChecked={reveals.value} choose={(isChecked) => (reveals.value = isChecked)}>
          It may see values. Without, it only lists and {permission === "write" ? "writes" : "compares"} keys.
        </Check>
      )}
      <TextField
        label="Only these keys"
        text={keys}
        placeholder="all keys"
        isBad={Either.isLeft(limited)}
        hint={Either.isLeft(limited) ? limited.left : "Separated by commas. Empty: all keys."}
      />
      <Choose
        label="For how long"
        value={span.value}
        words={delegationSpanWords}
        choose={(word) => (span.value = word)}
      />
      <Problem failure={act.failure.value} />
      <p class="row">
        <button
          class="primary"
          disabled={
            act.isBusy.value || env === undefined || permission === undefined || isTooMany || Either.isLeft(limited)
          }
        >
          Connect
        </button>
        {refuse}
      </p>
    </form>
  )
}
