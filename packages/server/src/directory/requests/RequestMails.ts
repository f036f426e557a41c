import type { Actor } from "@coffer/domain/access/Actor"
import type { ApprovalId, OrgId, RequestId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { approvalPage } from "@coffer/domain/requests/ApprovalMessage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type ApprovalMail, ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { ServerConfig } from "../../base/Config.js"
import { noticeText } from "../../base/mail/NoticeText.js"

/** How long a request with secrets waits for a decision, and its approval for the request. */
export const useWaits = Duration.minutes(5)

/** The words of the mails about requests that people vote on, and about requests with secrets. */
const kinds = {
  vote: {
    action: "request.list",
    decision: "vote",
    opening: "A request waits for your vote.",
    id: "Request",
    see: "To see what it changes, and to vote:",
    command: (org: OrgName, id: string) => `coffer request show ${id} --org ${org}`,
    often: "You get",
    lifetime: Duration.hours(24)
  },
  use: {
    action: "approval.decide",
    decision: "approval",
    opening: "A request with secrets waits for the approval of a person.",
    id: "Approval",
    see: `It waits for ${Duration.toMinutes(useWaits)} minutes. To see it as it would be sent, and to decide:`,
    command: (org: OrgName) => `coffer request list --org ${org}`,
    often: "You may approve requests there, and get",
    lifetime: useWaits
  }
} as const

/** A request that waits for people. Its mail has names only: whatever else its asker wrote may hold secrets. */
interface WaitingRequest extends Pick<ApprovalMail, "approvers"> {
  readonly id: RequestId | ApprovalId
  readonly org: { readonly id: OrgId; readonly name: OrgName }
  readonly project: ProjectName
  readonly env: EnvName
  readonly asker: { readonly type: Actor["type"]; readonly name: string }
  /** The facts of what is asked for, by their labels. */
  readonly what: Readonly<Record<string, string>>
}

/** Mails to the people who decide on a request of any kind. */
export const makeRequestMails = Effect.gen(function* () {
  const mails = yield* ApprovalMails
  const { approvalMail, publicUrl, webConsole } = yield* ServerConfig

  /** The page of the console where people decide; null if there is none. */
  const pageOf = (org: OrgName, id: RequestId | ApprovalId): string | null =>
    webConsole && publicUrl !== null ? approvalPage(publicUrl, org, id) : null

  /** Tells those who decide that a request waits. Call it after the commit. */
  const waits = (
    kind: keyof typeof kinds,
    { asker, env, id, org, project, what, ...approvers }: WaitingRequest
  ): Effect.Effect<void> => {
    if (!approvalMail) return Effect.void
    const { action, command, decision, id: label, lifetime, often, opening, see } = kinds[kind]
    const facts = {
      Organization: org.name,
      Environment: `${project}/${env}`,
      ...what,
      "Asked by": `${asker.type === "user" ? "" : "service account "}${asker.name}`,
      [label]: id
    }
    return mails.send({
      action,
      ...approvers,
      orgId: org.id,
      place: { org: org.name, project, env },
      subject: `A request in ${org.name} waits for your ${decision}`,
      text: noticeText(
        opening,
        facts,
        see,
        `  ${pageOf(org.name, id) ?? command(org.name, id)}`,
        `${often} at most one of these mails an hour for an organization: more requests may wait.`
      ),
      lifetime
    })
  }

  return { pageOf, waits } as const
})
