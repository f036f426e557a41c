import type { Approval } from "@coffer/domain/Approval"
import type { OrgName } from "@coffer/domain/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { secretAddress } from "../../routing/Places.js"
import { Link } from "../../routing/Link.js"
import { query } from "../../routing/Router.js"
import { hasUses } from "../../state/Server.js"
import { noteWaiting } from "../../state/Waiting.js"
import type { PageProps } from "../PageProps.js"
import { AsSent } from "./AsSent.js"
import { TimeLeft } from "./TimeLeft.js"
import "./Page.css"

/** How often the list is read: an approval ends after 5 minutes. */
const pollMillis = 3_000

const read = (org: OrgName) =>
  Effect.map(
    call("approvals", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RequestProps {
  readonly org: OrgName
  readonly approval: Approval
  readonly isNamed: boolean
  readonly decided: (what: string) => void
}

const Request = ({ approval, decided, isNamed, org }: RequestProps) => {
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
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("approvals", (api) => api.approve({ path })),
                () => {
                  decided(`Approved: ${account} may send it once, within 5 minutes.`)
                }
              )
            }}
          >
            Approve<span class="hidden"> the request of {account}</span>
          </button>
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("approvals", (api) => api.refuse({ path })),
                () => {
                  decided(`Refused: the request of ${account} is not sent.`)
                }
              )
            }}
          >
            Refuse<span class="hidden"> the request of {account}</span>
          </button>
        </div>
      )}
      <Problem failure={act.failure.value} />
    </li>
  )
}

/** Requests with secrets that wait for a person, as they would be sent. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const approvals = useLoad(org, () => read(org))
  const said = useSignal<string | null>(null)
  const named = query.value.get("id")
  const known = approvals.loaded.value.value
  useEffect(() => {
    if (known !== null) noteWaiting(org, known)
  }, [org, known])
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !approvals.loaded.peek().isLoading) approvals.reload()
    }, pollMillis)
    return () => {
      clearInterval(timer)
    }
  }, [org])
  if (!hasUses()) {
    return (
      <section class="narrow">
        <h1>Approvals</h1>
        <p>This server makes no requests with secrets: an operator has to set SERVICE_BROKER=1.</p>
      </section>
    )
  }
  return (
    <section class="narrow">
      <h1>Approvals</h1>
      <p role="status">{said.value}</p>
      <Reading of={approvals}>
        {(found) => (
          <>
            {named !== null && !found.some(({ id }) => id === named) && (
              <p>The request of the link does not wait any more: it was decided, or its 5 minutes are over.</p>
            )}
            {found.length === 0 && (
              <p class="quiet">
                No request waits for you. Requests come here from use rules with approval, in environments where you
                have the permission admin. This page looks for new ones by itself.
              </p>
            )}
            <ul class="approvals">
              {[...found]
                .sort((one, other) => Number(other.id === named) - Number(one.id === named))
                .map((approval) => (
                  <Request
                    key={approval.id}
                    org={org}
                    approval={approval}
                    isNamed={approval.id === named}
                    decided={(what) => {
                      said.value = what
                      approvals.reload()
                    }}
                  />
                ))}
            </ul>
          </>
        )}
      </Reading>
    </section>
  )
}
