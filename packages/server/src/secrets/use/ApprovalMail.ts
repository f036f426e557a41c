import { type Actor, actorName } from "@coffer/domain/access/Actor"
import type { ApprovalId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"

/**
 * The content of a mail to approvers: names only. The caller chose the address, headers and body, which may hold secrets.
 */
export interface ApprovalMail {
  readonly id: ApprovalId
  readonly org: OrgName
  readonly project: ProjectName
  readonly env: EnvName
  readonly actor: Actor
  readonly keys: ReadonlyArray<SecretKey>
  /** The page of the console; null if there is none. */
  readonly page: string | null
}

export const approvalMailSubject = ({ org }: ApprovalMail): string => `A request in ${org} waits for your approval`

export const approvalMailText = ({ actor, env, id, keys, org, page, project }: ApprovalMail): string =>
  `A request with secrets waits for the approval of a person.

  Organization: ${org}
  Environment:  ${project}/${env}
  Secrets:      ${keys.join(", ")}
  Asked by:     ${actor.type === "user" ? "" : "service account "}${actorName(actor)}
  Approval:     ${id}

It waits for 5 minutes. To see it as it would be sent, and to decide:

  ${page ?? `coffer approval list --org ${org}`}

You may approve requests there, and get at most one of these mails an hour for an organization: more requests may wait.
`
