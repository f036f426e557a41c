import { soonMillis } from "@coffer/domain/secrets/DueState"
import type { OrgId, UserId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { decide } from "../../access/place/Decisions.js"
import { grantsOf } from "../../access/place/PlaceRow.js"
import { timestamp } from "../../base/Time.js"
import { Fence } from "../../database/jobs/Lease.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { dueJobRepo } from "./JobRepo.js"
import { type Due, eachDue } from "./EachDue.js"
import { reminderSubject, reminderText } from "./Reminder.js"

const everyMillis = Duration.toMillis("7 days")
const ownersAtOnce = 100
/** How many mails a round queues, so that they fit the queue. */
const mailsAtOnce = 100
/** How many secrets a mail names. */
const maxNamed = 50

/**
 * Mails owners once a week what is overdue or due soon. Only a user who belongs to the organization and may list the keys of the
 * place gets them: anybody who may write a secret names its owner. A mail is noted before it is sent, so that none is sent twice. The
 * note goes if the mail server does not take the mail for now: the next round sends it.
 */
export const dueMails = Effect.gen(function* () {
  const repo = yield* dueJobRepo
  const mailer = yield* Mailer
  const fenced = yield* Fence

  /** Whether a user may list the keys where a secret is. Asks once for each organization. */
  const mayListAs = (userId: UserId) => {
    const known = new Map<OrgId, Effect.Effect.Success<ReturnType<typeof repo.rights>>>()
    return Effect.fnUntraced(function* ({ env, key, org, org_id: orgId, project }: Due) {
      const member = known.has(orgId) ? known.get(orgId) : yield* repo.rights({ orgId, userId })
      known.set(orgId, member)
      if (member === undefined) return false
      const subject = { superadmin: false, role: member.role, account: null, grants: grantsOf(member) }
      return decide("secret.list", subject, { org, project, env }, { key }).allowed
    })
  }

  return Effect.gen(function* () {
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    const until = timestamp(millis + soonMillis)
    const mailedBefore = timestamp(millis - everyMillis)
    let mails = 0
    for (let after = ""; mails < mailsAtOnce;) {
      const owners = yield* repo.owners({ after, until, limit: ownersAtOnce })
      for (const { mailed_at, owner, user_id: userId } of owners) {
        if (userId === null || (mailed_at !== null && mailed_at > mailedBefore) || mails >= mailsAtOnce) continue
        const mayList = mayListAs(userId)
        const secrets: Array<Due> = []
        yield* eachDue(
          (position) => repo.ofOwner({ ...position, owner, until }),
          ({ due_at }) => due_at,
          (rows) =>
            Effect.map(
              Effect.filter(rows, (row) => (row.own_at <= until ? mayList(row) : Effect.succeed(false))),
              (own) => {
                secrets.push(...own)
                return secrets.length <= maxNamed
              }
            )
        )
        if (secrets.length === 0) continue
        yield* fenced(repo.mailed({ userId, now }))
        const reminder = {
          secrets: secrets.slice(0, maxNamed).map(({ env, key, org, own_at: due_at, project }) => ({
            name: `${org}/${project}/${env} ${key}`,
            due_at,
            isOverdue: due_at <= now
          })),
          hasMore: secrets.length > maxNamed
        }
        yield* mailer.sendNotice({
          to: owner,
          subject: reminderSubject(reminder),
          text: reminderText(reminder),
          lost: Effect.catchAllCause(fenced(repo.notMailed({ userId, now })), (cause) =>
            Effect.logError("an owner of due secrets gets the next mail in a week", cause)
          )
        })
        mails++
      }
      const last = owners.at(-1)
      if (last === undefined || owners.length < ownersAtOnce) return
      after = last.owner
    }
  })
})
