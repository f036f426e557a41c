import * as Effect from "effect/Effect"
import { makeOwnerNotices } from "../../access/gate/OwnerNotices.js"
import { noticeText } from "../../base/mail/NoticeText.js"
import { Database } from "../../database/Database.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import type { StillNeeded } from "./ScimPeople.js"
import type { DirectoryToken } from "./ScimTokens.js"

/** Directories try again for ever. */
const mailsOfPerson: RateLimit = { kind: "scim.still_needed", max: 1, window: 60 * 60 * 1000 }

/** Mails the owners of an organization about a person whom the directory could not put out, at most once an hour. */
export const makeStillNeededNotices = Effect.gen(function* () {
  const { transaction } = yield* Database
  const limits = yield* RateLimits
  const notify = yield* makeOwnerNotices

  return ({ org }: DirectoryToken, { email, message }: StillNeeded): Effect.Effect<void> => {
    const subject = `${org.id} ${email}`
    return transaction(
      Effect.gen(function* () {
        if ((yield* limits.wait(mailsOfPerson, subject)) > 0) return
        yield* limits.count(mailsOfPerson, subject)
        yield* notify(org.id, {
          subject: `The directory cannot put ${email} out of ${org.name}`,
          text: noticeText(
            `The organization's directory ended the account of a person who is still needed here: the person stays a member.`,
            { Organization: org.name, Person: email, Reason: message },
            `Change that, and let the directory try again. You get this mail because you are an owner.`
          )
        })
      })
    )
  }
})
