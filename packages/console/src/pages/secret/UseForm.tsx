import type { SecretPath } from "@coffer/domain/api/Paths"
import { body } from "@coffer/domain/base/Schemas"
import { type UseMethod, useMethods } from "@coffer/domain/secrets/UseMethod"
import { approvalKinds, newUseRule, responseKinds, type UseRule } from "@coffer/domain/secrets/UseRule"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Choose } from "../../kit/Choose.js"
import { decodeForm, wordsOf } from "../../kit/Decode.js"
import { FormDialog } from "../../kit/FormDialog.js"
import { TextField } from "../../kit/TextField.js"
import { PlacementFields, placementInput, usePlacement } from "./Placement.js"

const NewUseRule = body(newUseRule)

interface FormProps {
  readonly path: SecretPath
  /** The rule to change; null to make one. */
  readonly rule: UseRule | null
  readonly close: () => void
  readonly done: (rule: UseRule) => void
}

/** A form for a use rule. What the server would refuse is said while one types. */
export const UseForm = ({ close, done, path, rule: before }: FormProps) => {
  const accounts = useSignal(before?.accounts.join(", ") ?? "")
  const hosts = useSignal(before?.hosts.join(", ") ?? "")
  const paths = useSignal(before?.paths.join(" ") ?? "")
  const methods = useSignal<ReadonlyArray<UseMethod>>(before?.methods ?? ["GET"])
  const placement = usePlacement(before?.place)
  const perMinute = useSignal(String(before?.per_minute ?? 30))
  const perDay = useSignal(String(before?.per_day ?? 1_000))
  const response = useSignal<(typeof responseKinds)[number]>(before?.response ?? "text")
  const approval = useSignal<(typeof approvalKinds)[number]>(before?.approval ?? "none")
  const act = useAct()
  const rule = decodeForm(NewUseRule, {
    accounts: wordsOf(accounts.value),
    hosts: wordsOf(hosts.value),
    paths: wordsOf(paths.value),
    methods: methods.value,
    place: placementInput(placement),
    per_minute: Number(perMinute.value),
    per_day: Number(perDay.value),
    response: response.value,
    approval: approval.value
  })
  const isBegun = accounts.value !== "" && hosts.value !== "" && paths.value !== ""
  return (
    <FormDialog
      title={before === null ? `Allow a use of ${path.key}` : `Change a use rule of ${path.key}`}
      verb={before === null ? "Allow" : "Save"}
      class="wide"
      act={act}
      close={close}
      made={rule}
      isBegun={isBegun}
      submit={(payload) => {
        act.run(
          call("useRules", (api) =>
            before === null
              ? api.create({ path, payload })
              : api.update({ path: { ...path, use_rule_id: before.id }, payload })
          ),
          done
        )
      }}
    >
      <TextField
        label="Who"
        text={accounts}
        placeholder="agent, grace@example.com"
        hint="names of service accounts, or e-mail addresses; they also need a rule with the permission use"
      />
      <TextField label="Hosts" text={hosts} placeholder="api.stripe.com" hint="exact names, with a port if not 443" />
      <TextField
        label="Paths"
        text={paths}
        placeholder="/v1/refunds /v1/refunds/*"
        hint="exact, or with one * at the end"
      />
      <fieldset class="secret-methods">
        <legend>Methods</legend>
        {useMethods.map((method) => (
          <Check
            key={method}
            isChecked={methods.value.includes(method)}
            choose={(isChecked) => {
              methods.value = useMethods.filter((one) => (one === method ? isChecked : methods.value.includes(one)))
            }}
          >
            {method}
          </Check>
        ))}
      </fieldset>
      <PlacementFields placement={placement} />
      <div class="fields">
        <TextField label="Requests a minute" text={perMinute} maxLength={5} />
        <TextField label="Requests a day" text={perDay} maxLength={8} />
        <Choose
          label="Returns"
          value={response.value}
          words={responseKinds}
          choose={(word) => (response.value = word)}
        />
        <Choose
          label="Approval"
          value={approval.value}
          words={approvalKinds}
          choose={(word) => (approval.value = word)}
        />
      </div>
      <p class="hint">
        {approval.value === "each"
          ? "A person with admin sees each request as it would be sent, and approves it."
          : "Requests within the rule are sent at once."}
      </p>
    </FormDialog>
  )
}
