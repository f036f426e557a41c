import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import { defined } from "@coffer/domain/base/Defined"
import type { OrgName } from "@coffer/domain/base/Names"
import { requestSummary } from "@coffer/domain/requests/RequestSummary"
import * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { call, type Failure } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { Disc } from "../../kit/Person.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { spanText } from "../../kit/Spans.js"
import { Ahead, When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { envAddress, projectAddress } from "../../routing/Places.js"
import { Keys } from "./Keys.js"
import { Vote } from "./Vote.js"
import { Visible } from "../../kit/Visible.js"

/** More keys are folded. */
const maxOpen = 20

const deedOf = (request: ApprovalRequest): string => {
  const { expires_in = 0, kind, permission = "access" } = request
  return kind === "access" ? `for ${permission} for ${spanText(expires_in)} in` : `to ${requestSummary(request)}`
}

const colours: Readonly<Record<string, string>> = { done: "good", refused: "bad", pending: "warn" }

const State = ({ created_at, decided_at, expires_at, state }: ApprovalRequest) => (
  <span class="quiet">
    {state === "pending" ? (
      <>
        asked <When time={created_at} />, ends <Ahead time={expires_at} />
      </>
    ) : (
      decided_at !== undefined && <When time={decided_at} />
    )}{" "}
    <span class={`badge ${colours[state] ?? ""}`}>{state === "pending" ? "waiting" : state}</span>
  </span>
)

const Votes = ({ needed, state, votes }: ApprovalRequest) => (
  <p class="quiet">
    {state === "pending" && `${needed === 1 ? "One approval is" : `${needed} approvals are`} needed. `}
    {votes.map(({ by, comment, created_at, vote }, index) => (
      <span key={by}>
        {index > 0 && ", "}
        {vote === "approve" ? "Approved" : "Refused"} by {by} <When time={created_at} />
        {comment !== undefined && (
          <>
            : “<Visible text={comment} />”
          </>
        )}
      </span>
    ))}
    {votes.length > 0 ? "." : state === "pending" ? "Nobody has voted yet." : ""}
  </p>
)

const Outcome = ({ org, request }: Pick<RequestProps, "org" | "request">) => {
  const { outdated = [], project, revision, rule_id } = request
  return (
    <>
      {revision !== undefined && (
        <p>
          It made revision {revision}: see the{" "}
          <Link to={projectAddress(org, project, "history")}>history of {project}</Link>.
        </p>
      )}
      {rule_id !== undefined && (
        <p class="quiet">
          It made the rule <code>{rule_id}</code>.
        </p>
      )}
      {outdated.length > 0 && (
        <>
          <p>Nothing was changed, because something else has changed since:</p>
          <ul>
            {outdated.map((line) => (
              <li key={line}>
                <Visible text={sentence(line)} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const Fold = ({ children, count }: { readonly children: ComponentChildren; readonly count: number }) =>
  count <= maxOpen ? (
    <>{children}</>
  ) : (
    <details class="more">
      <summary>Show {count.toLocaleString("en")} keys</summary>
      {children}
    </details>
  )

interface RequestProps {
  readonly org: OrgName
  readonly request: ApprovalRequest
  readonly isNamed: boolean
  readonly decided: (what: string) => void
}

/** Returns the outcome of a decision, as a sentence. */
const saidOf = ({ kind, needed, project, env, state, votes }: ApprovalRequest): string => {
  const place = `${project}/${env}`
  if (state === "done")
    return kind === "access" ? `Approved: the access to ${place} begins.` : `Approved: ${place} was changed.`
  const missing = needed - votes.filter(({ vote }) => vote === "approve").length
  return `Approved: ${missing === 1 ? "one approval is" : `${missing} approvals are`} missing.`
}

/** A request for access or for a change, without values. */
export const Request = ({ decided, isNamed, org, request }: RequestProps) => {
  const act = useAct()
  const { details = [], env, id, is_own, keys = [], may_vote, project, reason, requester, state, votes } = request
  const path = { org_name: org, request_id: id }
  const place = `${project}/${env}`
  /** A conflict is an end as well: the list that is read again has the request elsewhere. */
  const ended = <E extends Failure>(decision: Effect.Effect<string, E>) =>
    Effect.catchIf(
      decision,
      (failure) => failure._tag === "Conflict",
      ({ message }) => Effect.succeed(sentence(message))
    )
  const decide = <E extends Failure>(decision: Effect.Effect<string, E>) => {
    act.run(ended(decision), decided)
  }
  return (
    <li class={isNamed ? "approvals-one named" : "approvals-one"} id={id}>
      <p class="approvals-who">
        <Disc address={requester} />
        <span class="approvals-what">
          <strong>{is_own ? "You" : requester}</strong> {is_own ? "ask" : "asks"} {deedOf(request)}{" "}
          <Link to={envAddress(org, project, env)}>
            {project}/{env}
          </Link>
        </span>{" "}
        <State {...request} />
      </p>
      {details.length > 0 && (
        <ul class="approvals-details">
          {details.map((line) => (
            <li key={line}>
              <Visible text={line} />
            </li>
          ))}
        </ul>
      )}
      {reason !== undefined && (
        <p class="approvals-reason">
          <Visible text={reason} />
        </p>
      )}
      {keys.length > 0 && (
        <Fold count={keys.length}>
          <Keys org={org} request={request} keys={keys} />
        </Fold>
      )}
      <Outcome org={org} request={request} />
      <Votes {...request} />
      {may_vote && (
        <Vote
          act={act}
          of={requester}
          hasComment
          approve={(comment) => {
            decide(
              Effect.map(
                call("requests", (api) => api.approve({ path, payload: defined({ comment }) })),
                saidOf
              )
            )
          }}
          refuse={(comment) => {
            decide(
              Effect.as(
                call("requests", (api) => api.refuse({ path, payload: defined({ comment }) })),
                `Refused: the request of ${requester} has ended.`
              )
            )
          }}
        >
          <p>One refusal ends the request for everybody. {requester} has to ask again.</p>
        </Vote>
      )}
      {is_own && state === "pending" && (
        <p class="row">
          <ConfirmButton
            label={
              <>
                Withdraw<span class="hidden"> your request for {place}</span>
              </>
            }
            isDisabled={act.isBusy.value}
            title={`Withdraw your request for ${place}`}
            verb="Withdraw"
            effect={ended(
              Effect.as(
                call("requests", (api) => api.withdraw({ path })),
                `Withdrawn: your request for ${place} has ended.`
              )
            )}
            done={decided}
          >
            <p>
              The request ends{votes.length > 0 && ", and its votes are lost"}. To have it decided, you have to ask
              again.
            </p>
          </ConfirmButton>
        </p>
      )}
      <Problem failure={act.failure.value} />
    </li>
  )
}
