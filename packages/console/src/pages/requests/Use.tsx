import type { Approval } from "@coffer/domain/requests/Approval"
import type { OrgName } from "@coffer/domain/base/Names"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import { AsSent } from "./AsSent.js"
import { TimeLeft } from "./TimeLeft.js"
import { Vote } from "./Vote.js"

interface UseProps {
  readonly org: OrgName
  readonly approval: Approval
  readonly isNamed: boolean
  readonly decided: (what: string) => void
}

/** A request with a secret, as it would be sent. */
export const Use = ({ approval, decided, isNamed, org }: UseProps) => {
  const act = useAct()
  const { account, env, expires_at, id, project, secrets, state } = approval
  const path = { org_name: org, approval_id: id }
  return (
    <li class={isNamed ? "approvals-one named" : "approvals-one"} id={id}>
      <p class="approvals-who">
        <strong>{account}</strong> asks to use{" "}
        {secrets.map((key, index) => (
          <>
            {index > 0 && ", "}
            <Link to={secretAddress(org, project, env, key)} class="key">
              {key}
            </Link>
          </>
        ))}{" "}
        of {project}/{env}
        <span class="space" />
        {state === "pending" ? (
          <TimeLeft until={expires_at} />
        ) : (
          <span class={state === "refused" ? "badge bad" : "badge good"}>{state}</span>
        )}
      </p>
      <AsSent request={approval} />
      {state === "pending" && (
        <Vote
          act={act}
          of={account}
          approve={() => {
            act.run(
              call("approvals", (api) => api.approve({ path })),
              () => {
                decided(`Approved: ${account} may send it once, within 5 minutes.`)
              }
            )
          }}
          refuse={() => {
            act.run(
              call("approvals", (api) => api.refuse({ path })),
              () => {
                decided(`Refused: the request of ${account} is not sent.`)
              }
            )
          }}
        >
          <p>The request is not sent, and ends. {account} may make another one.</p>
        </Vote>
      )}
      <Problem failure={act.failure.value} />
    </li>
  )
}
