import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import type { NewServiceAccount } from "@coffer/domain/ServiceAccount"
import { useSignal } from "@preact/signals"
import type * as Redacted from "effect/Redacted"
import { Choose } from "../../kit/Choose.js"
import { piecesFor, type Target, targets } from "./CiSnippets.js"
import { type Trusted, FederationForm } from "./FederationForm.js"
import { KeylessLines } from "./KeylessLines.js"
import { NewKey } from "./NewKey.js"
import { Pieces } from "./Pieces.js"

/** A new account, and the environment that it reads. */
export interface Made {
  readonly account: NewServiceAccount
  readonly project: ProjectName
  readonly env: EnvName
}

interface RecipeProps {
  readonly org: OrgName
  readonly made: Made
}

const WithKey = ({ apiKey, made, org }: RecipeProps & { readonly apiKey: Redacted.Redacted }) => {
  const target = useSignal<Target>("Docker")
  const use = { server: location.origin, org, project: made.project, env: made.env }
  return (
    <>
      <NewKey account={{ ...made.account, api_key: apiKey }} />
      <Choose label="It runs in" value={target.value} words={targets} choose={(word) => (target.value = word)} />
      <Pieces pieces={piecesFor(target.value, use)} />
    </>
  )
}

const WithoutKey = ({ made, org }: RecipeProps) => {
  const trusted = useSignal<Trusted | null>(null)
  const { account, env, project } = made
  return trusted.value === null ? (
    <>
      <p>
        {account.name} reads {project}/{env}, and has no key. Say whose tokens it signs in with.
      </p>
      <FederationForm org={org} account={account} done={(next) => (trusted.value = next)} />
    </>
  ) : (
    <KeylessLines org={org} account={account} made={trusted.value} place={`${project}/${env}`} />
  )
}

/** The last step: where the account runs, and the lines for it. */
export const Recipe = (props: RecipeProps) => {
  const { api_key } = props.made.account
  return api_key === undefined ? <WithoutKey {...props} /> : <WithKey {...props} apiKey={api_key} />
}
