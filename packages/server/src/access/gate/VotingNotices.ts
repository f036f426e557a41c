import type { OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { noticeText } from "../../base/mail/NoticeText.js"
import { ApprovalMails } from "./ApprovalMails.js"
import { makeProtections } from "./Protections.js"
import { makeVotingMembers, namesOf } from "./VotingMembers.js"

const mailLifetime = Duration.hours(24)

const textOf = (org: OrgName, names: string): string =>
  noticeText(
    "Nobody could give the votes that these protected environments need: not even an owner can change them or end their protection.",
    { Organization: org, Environments: names },
    `Somebody who voted is disabled, or has left. Invite people or give them the role that votes; or ask a superadmin of the server, who may
end such a protection at once, with a reason. You get this mail because you are an owner.`
  )

/** Mails the owners of an organization if nobody could vote on its protected environments. */
export const makeVotingNotices = Effect.gen(function* () {
  const mails = yield* ApprovalMails
  const protections = yield* makeProtections
  const { stuck } = yield* makeVotingMembers

  /**
   * Call it after the commit of what may take a voter away: a check before it does not see a voter who is disabled meanwhile, which
   * holds no scope of the organization.
   */
  return Effect.fnUntraced(function* (org: { readonly id: OrgId; readonly name: OrgName }) {
    const names = yield* stuck(org.id)
    if (names.length === 0) return
    yield* mails.send({
      action: "protection.set",
      approvers: protections.votersOf(org.id, "owners"),
      orgId: org.id,
      place: { org: org.name },
      subject: `Nobody can vote on protected environments of ${org.name}`,
      text: textOf(org.name, namesOf(names)),
      lifetime: mailLifetime
    })
  })
})
