import type { UserId } from "@coffer/domain/base/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { nextTick } from "../../base/EventLoop.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { Tenant } from "../../base/Tenant.js"
import { timestamp } from "../../base/Time.js"
import { inOrganization } from "../../database/jobs/EachRow.js"
import { Fence, isLeaseLost } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { type OrgRow, type OwnerRow, unusedAccessRepo } from "./Repo.js"
import { makeUnusedAccess } from "./UnusedAccess.js"
import { unusedAccessSubject, unusedAccessText } from "./UnusedAccessText.js"

const organizationsAtOnce = 100
/** How many mails a round queues, so that they fit the queue. */
const mailsAtOnce = 100

/**
 * Mails the owners of organizations that want it which access nobody used, at most once in a calendar month (UTC). The mails are
 * noted before they are sent, so that none is sent twice. The note goes if the mail server does not take a mail for now: a later
 * round sends it.
 */
export const unusedAccessMails = Effect.gen(function* () {
  const repo = yield* unusedAccessRepo
  const mailer = yield* Mailer
  const fenced = yield* Fence
  const unusedIn = yield* makeUnusedAccess

  const forget = (orgId: OrgRow["id"], userId: UserId, month: string) =>
    Effect.catchAllCause(
      fenced(Effect.zipRight(repo.forgetOwner({ orgId, userId, month }), repo.forgetOrganization({ orgId, month })), [
        orgScope(orgId)
      ]),
      (cause) => Effect.logError("an owner gets the next mail about unused access in a month", cause)
    )

  /** Returns how many owners are mailed. */
  const mailOwners = Effect.fnUntraced(function* ({ id: orgId, name }: OrgRow, month: string, limit: number) {
    if ((yield* repo.anyOwner({ orgId, month })) === undefined) return 0
    const unused = yield* unusedIn(orgId)
    const isNothing = unused.rules.length + unused.accounts.length === 0
    let owners: ReadonlyArray<OwnerRow> = []
    const note = Effect.gen(function* () {
      owners = isNothing ? [] : yield* repo.noteOwners({ orgId, month, limit })
      // The next round mails those who are left.
      if (isNothing || (yield* repo.anyOwner({ orgId, month })) === undefined) {
        yield* repo.noteOrganization({ orgId, month })
      }
    })
    if (!(yield* inOrganization(orgId, note, fenced))) return 0
    const mail = { subject: unusedAccessSubject(name, unused), text: unusedAccessText(name, unused) }
    yield* Effect.forEach(
      owners,
      ({ email, id }) => mailer.sendNotice({ to: email, ...mail, lost: forget(orgId, id, month) }),
      { discard: true }
    )
    return owners.length
  })

  return Effect.gen(function* () {
    const month = timestamp(yield* Clock.currentTimeMillis).slice(0, "2027-01".length)
    let left = mailsAtOnce
    for (let after = ""; left > 0;) {
      const found = yield* repo.waiting({ after, month, limit: organizationsAtOnce })
      for (const org of found) {
        if (left <= 0) return
        left -= yield* mailOwners(org, month, left).pipe(
          Effect.provideService(Tenant, { name: org.id }),
          Effect.catchAllCause((cause) =>
            isLeaseLost(cause)
              ? Effect.failCause(cause)
              : Effect.as(Effect.logError("the owners of an organization were not mailed its unused access", cause), 0)
          )
        )
        yield* nextTick
      }
      const last = found.at(-1)
      if (last === undefined || found.length < organizationsAtOnce) return
      after = last.id
    }
  })
})
