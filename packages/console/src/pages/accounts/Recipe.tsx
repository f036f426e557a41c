import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import type { NewServiceAccount } from "@coffer/domain/ServiceAccount"
import { programNames, programPieces, programs, serverNeeds, signInProblem } from "@coffer/domain/WorksWith"
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

const programsWithKey = programNames.filter((name) => signInProblem(name, true) === undefined)
const titles = programsWithKey.map((name) => programs[name].title)
const words = [...targets, ...titles]
type Word = Target | (typeof titles)[number]

const WithKey = ({ apiKey, made, org }: RecipeProps & { readonly apiKey: Redacted.Redacted }) => {
  const target = useSignal<Word>("Docker")
  const use = { server: location.origin, org, project: made.project, env: made.env }
  const program = programsWithKey.find((name) => programs[name].title === target.value)
  const way = targets.find((one) => one === target.value)
  const needs = program && serverNeeds(program)
  return (
    <>
      <NewKey account={{ ...made.account, api_key: apiKey }} />
      <Choose label="It runs in" value={target.value} words={words} choose={(word) => (target.value = word)} />
      {needs !== undefined && <p class="hint">{needs}</p>}
      {way !== undefined && <Pieces pieces={piecesFor(way, use)} />}
      {program !== undefined && (
        <Pieces pieces={programPieces(program, { ...use, account: made.account.name, hasKey: true })} />
      )}
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
