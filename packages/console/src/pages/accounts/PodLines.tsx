import type { Federation } from "@coffer/domain/directory/Federation"
import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import type { ProgramName, ProgramUse } from "@coffer/domain/guides/Programs"
import { useSignal } from "@preact/signals"
import { FederationForm } from "./FederationForm.js"
import { SignsIn } from "./KeylessLines.js"
import { ProgramLines } from "./ProgramLines.js"

interface PodProps {
  readonly org: OrgName
  readonly account: Pick<ServiceAccount, "id" | "name">
  readonly name: ProgramName
  readonly use: ProgramUse
}

const trustedBy = ({ audience, conditions }: Federation) => ({
  namespace: conditions["/kubernetes.io/namespace"] ?? "",
  serviceAccount: conditions["/kubernetes.io/serviceaccount/name"] ?? "",
  audience
})

/** Lets pods sign in to an account, now or later by a command, and ends with the lines for a program that reads for them. */
export const PodLines = ({ account, name, org, use }: PodProps) => {
  const trusted = useSignal<Federation | "later" | null>(null)
  const found = trusted.value
  if (found === null) {
    return (
      <>
        <p>
          {account.name} reads {use.project}/{use.env}, and has no key. Say whose pods sign in to it.
        </p>
        <FederationForm
          org={org}
          account={account}
          only="Kubernetes"
          done={({ federation }) => (trusted.value = federation)}
          other={
            <button type="button" onClick={() => (trusted.value = "later")}>
              Trust it later
            </button>
          }
        />
      </>
    )
  }
  return found === "later" ? (
    <>
      <p role="status">{account.name} has no key, and trusts no cluster yet.</p>
      <ProgramLines name={name} use={use} />
    </>
  ) : (
    <>
      <SignsIn account={account} federation={found} />
      <ProgramLines name={name} use={{ ...use, trusted: trustedBy(found) }} />
    </>
  )
}
