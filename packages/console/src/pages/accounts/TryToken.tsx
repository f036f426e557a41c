import type { FederationTrial } from "@coffer/domain/directory/Federation"
import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { Table } from "../../kit/Table.js"
import { TextArea } from "../../kit/TextArea.js"

const verdictOf = ({ issuer, signed, takes }: FederationTrial): string =>
  takes !== null
    ? `The account signs in with this token, by ${takes}.`
    : issuer === null
      ? "This is not a signed token (JWT)."
      : signed
        ? "No federation takes this token."
        : `The signature does not hold, or the server has no keys of ${issuer}.`

const Result = ({ trial }: { readonly trial: FederationTrial }) => (
  <>
    <p role="status" class={trial.takes === null ? "accounts-verdict bad" : "accounts-verdict"}>
      {verdictOf(trial)}
    </p>
    {trial.issuer !== null && trial.federations.some(({ failed }) => failed.length > 0) && (
      <Table label="Claims that do not fit" heads={["Federation", "Claim", "Expected", "Found"]}>
        {trial.federations.flatMap(({ failed, name }) =>
          failed.map(({ claim, expected, found }) => (
            <tr key={`${name} ${claim} ${expected}`}>
              <th scope="row">{name}</th>
              <td class="accounts-claim">
                <code>{claim}</code>
              </td>
              <td class="accounts-claim">
                <code>{expected}</code>
              </td>
              <td class="accounts-claim">
                {found === null ? <span class="quiet">absent</span> : <code>{found}</code>}
              </td>
            </tr>
          ))
        )}
      </Table>
    )}
  </>
)

interface TryProps {
  readonly org: OrgName
  readonly account: ServiceAccount
}

/** Says whether an account would sign in with a token, and which claim does not fit. The token is not kept. */
export const TryToken = ({ account, org }: TryProps) => {
  const token = useSignal("")
  const trial = useSignal<FederationTrial | null>(null)
  const act = useAct()
  const text = token.value.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text === "") return
        trial.value = null
        act.run(
          call("federations", (api) =>
            api.try({ path: { org_name: org, sa_id: account.id }, payload: { token: Redacted.make(text) } })
          ),
          (found) => {
            trial.value = found
            token.value = ""
          }
        )
      }}
    >
      <TextArea
        label="Token of a job"
        text={token}
        rows={3}
        placeholder="eyJ…"
        hint="The token is not stored, and no session is started."
      />
      <Problem failure={act.failure.value} />
      {trial.value !== null && <Result trial={trial.value} />}
      <footer>
        <button disabled={act.isBusy.value || text === ""}>Try the token</button>
      </footer>
    </form>
  )
}
