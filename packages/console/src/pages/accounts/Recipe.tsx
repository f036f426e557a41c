import { version } from "../../../package.json"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { NewServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { keyedPieces, keyedTargets } from "@coffer/domain/guides/Keyed"
import { type ProgramName, programNames, signInProblem, titleOf } from "@coffer/domain/guides/Programs"
import { useSignal } from "@preact/signals"
import type * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { Choose } from "../../kit/Choose.js"
import { type Trusted, FederationForm } from "./FederationForm.js"
import { KeylessLines } from "./KeylessLines.js"
import { NewKey } from "./NewKey.js"
import { Pieces } from "./Pieces.js"
import { PodLines } from "./PodLines.js"
import { ProgramLines, programOf } from "./ProgramLines.js"

/** A new account, the environment that it reads, and the program that it is for. */
export interface Made {
  readonly account: NewServiceAccount
  readonly project: ProjectName
  readonly env: EnvName
  readonly program: ProgramName | undefined
}

interface RecipeProps {
  readonly org: OrgName
  readonly made: Made
  /** Called when the account has changed. */
  readonly changed: () => void
}

const titles = programNames.filter((name) => signInProblem(name, true) === undefined).map(titleOf)
const words: ReadonlyArray<string> = [...keyedTargets, ...titles]

const useOf = ({ made: { account, env, project }, org }: Omit<RecipeProps, "changed">) => ({
  ...{ server: location.origin, org, account: account.name, project, env },
  hasKey: account.api_key !== undefined
})

const WithKey = ({ apiKey, ...props }: RecipeProps & { readonly apiKey: Redacted.Redacted }) => {
  const { account, program: first } = props.made
  const target = useSignal(first === undefined ? "Docker" : titleOf(first))
  const use = useOf(props)
  const program = programOf(target.value)
  const way = keyedTargets.find((one) => one === target.value)
  return (
    <>
      <NewKey
        account={{ ...account, api_key: apiKey }}
        revoke={{
          word: `Revoke ${account.name}`,
          effect: call("serviceAccounts", (api) => api.revoke({ path: { org_name: props.org, sa_id: account.id } })),
          done: props.changed
        }}
      />
      <Choose label="It runs in" value={target.value} words={words} choose={(word) => (target.value = word)} />
      {way !== undefined && <Pieces pieces={keyedPieces(way, use, version)} />}
      {program !== undefined && <ProgramLines name={program} use={use} />}
    </>
  )
}

const WithoutKey = ({ made, org }: Omit<RecipeProps, "changed">) => {
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
  const { account, program } = props.made
  if (account.api_key !== undefined) return <WithKey {...props} apiKey={account.api_key} />
  return program === undefined ? (
    <WithoutKey {...props} />
  ) : (
    <PodLines org={props.org} account={account} name={program} use={useOf(props)} />
  )
}
