import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import type { ServiceAccountWithKey } from "@coffer/domain/ServiceAccount"
import { useSignal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"
import { CopyText } from "../../kit/CopyText.js"
import { piecesFor, type Target, targets } from "./CiSnippets.js"
import { NewKey } from "./NewKey.js"

/** A new account, and the environment that it reads. */
export interface Made {
  readonly account: ServiceAccountWithKey
  readonly project: ProjectName
  readonly env: EnvName
}

/** The key, and the lines for where the account runs. */
export const Recipe = ({ made, org }: { readonly org: OrgName; readonly made: Made }) => {
  const target = useSignal<Target>("GitHub")
  const use = { server: location.origin, org, project: made.project, env: made.env }
  return (
    <>
      <NewKey account={made.account} />
      <Choose label="It runs in" value={target.value} words={targets} choose={(word) => (target.value = word)} />
      {piecesFor(target.value, use).map(({ lines, what }) => (
        <div key={lines} class="accounts-piece">
          <p>{what}</p>
          <pre class="code-lines" tabIndex={0}>
            {lines}
          </pre>
          <p class="row">
            <CopyText label="Copy" text={lines} />
          </p>
        </div>
      ))}
      <p class="quiet">
        GitHub, GitLab and Kubernetes can also sign in without a stored key: <code>coffer service-account trust</code>.
      </p>
    </>
  )
}
