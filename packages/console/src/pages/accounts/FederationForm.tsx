import { parseJson } from "@coffer/client/internal/ParseJson"
import { Conditions, type Federation, Issuer, PublicKeys } from "@coffer/domain/directory/Federation"
import { FederationName, type OrgName } from "@coffer/domain/base/Names"
import { body, optional } from "@coffer/domain/base/Schemas"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { decodeForm } from "../../kit/Decode.js"
import { Problem } from "../../kit/Problem.js"
import { TextArea } from "../../kit/TextArea.js"
import { TextField } from "../../kit/TextField.js"
import { conditionsOf, type KindName, kindNames, kindOf, missingOf, type Typed } from "./Kinds.js"

const NewFederation = body({
  name: FederationName,
  issuer: Issuer,
  conditions: Conditions,
  jwks: optional(PublicKeys)
})

/** Keys as they are pasted; a text that is no JSON is left to the rule to refuse. */
const keysOf = (text: string): unknown => Option.getOrElse(parseJson(text), () => text)

/** A federation that was just created, with the input that the setup of its job needs. */
export interface Trusted {
  readonly federation: Federation
  readonly kind: KindName
  readonly typed: Typed
}

interface FormProps {
  readonly org: OrgName
  readonly account: Pick<ServiceAccount, "id" | "name">
  /** The one kind that fits; left out, it is asked. */
  readonly only?: KindName
  /** Another way to continue. */
  readonly other?: ComponentChildren
  readonly done: (made: Trusted) => void
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder: string | undefined
  readonly hint: string | undefined
  readonly set: (text: string) => void
}

const Field = ({ hint, label, placeholder, set, value }: FieldProps) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        placeholder={placeholder}
        maxLength={500}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={({ currentTarget }) => {
          set(currentTarget.value)
        }}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** Lets an account sign in with the tokens of a CI system or cluster. What the server would refuse is said while one types. */
export const FederationForm = ({ account, done, only, org, other }: FormProps) => {
  const kindName = useSignal<KindName>(only ?? "GitHub")
  const typed = useSignal<Typed>({})
  const name = useSignal("")
  const issuer = useSignal("")
  const further = useSignal("")
  const keys = useSignal("")
  const act = useAct()
  const kind = kindOf(kindName.value)
  const made = decodeForm(NewFederation, {
    name: name.value.trim() || kind.name,
    issuer: issuer.value.trim() || kind.issuer(typed.value),
    conditions: conditionsOf(kind, typed.value, further.value),
    ...(keys.value.trim() !== "" && { jwks: keysOf(keys.value) })
  })
  const missing = missingOf(kind, typed.value)
  const isBegun = kind.fields.length > 0 ? missing.length === 0 : further.value !== "" && issuer.value !== ""
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (Either.isLeft(made) || missing.length > 0) return
        const payload = made.right
        act.run(
          call("federations", (api) => api.create({ path: { org_name: org, sa_id: account.id }, payload })),
          (federation) => {
            done({ federation, kind: kindName.value, typed: typed.value })
          }
        )
      }}
    >
      {only === undefined && (
        <Choose
          label="It runs in"
          value={kindName.value}
          words={kindNames}
          choose={(word) => {
            kindName.value = word
            typed.value = {}
          }}
        />
      )}
      {kind.fields.map((field) => (
        <Field
          key={`${kindName.value} ${field.name}`}
          label={field.isOptional === true ? `${field.label} (optional)` : field.label}
          value={typed.value[field.name] ?? ""}
          placeholder={field.placeholder}
          hint={field.hint}
          set={(text) => (typed.value = { ...typed.value, [field.name]: text })}
        />
      ))}
      <details
        key={kindName.value}
        class="accounts-more"
        open={kindName.value === "Kubernetes" || kindName.value === "other"}
      >
        <summary>Issuer, keys, further claims and name</summary>
        <TextField
          label="Issuer"
          text={issuer}
          placeholder={kind.issuer(typed.value) || "https://git.example.com"}
          hint="as the tokens have it in iss; from the server's list (SERVICE_OIDC_MACHINE_ISSUERS), or with its keys"
        />
        <TextArea
          label="Public keys (JWKS)"
          text={keys}
          rows={3}
          placeholder='{"keys": [...]}'
          hint="for an issuer that the server cannot reach; for a cluster: kubectl get --raw /openid/v1/jwks"
        />
        <TextArea
          label="Further claims"
          text={further}
          rows={2}
          placeholder={"namespace_id=72\nevent_name=push"}
          hint="one on each line, as NAME=VALUE; a JSON Pointer names a claim within others"
        />
        <TextField label="Name of the federation" text={name} placeholder={kind.name} maxLength={64} />
      </details>
      {isBegun && Either.isLeft(made) && (
        <p class="hint bad" role="status">
          {made.left}
        </p>
      )}
      <Problem failure={act.failure.value} />
      <footer>
        {other}
        <button class="primary" disabled={act.isBusy.value || missing.length > 0 || Either.isLeft(made)}>
          Let {account.name} sign in
        </button>
      </footer>
    </form>
  )
}
