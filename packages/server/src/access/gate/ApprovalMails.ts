import type { OrgId } from "@coffer/domain/base/Ids"
import type { Action } from "@coffer/domain/access/Permissions"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import { ServerConfig } from "../../base/Config.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Mailer } from "../../base/mail/Mailer.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { afterCommit, Database } from "../../database/Database.js"
import { type RateLimit, RateLimits } from "../../database/limits/RateLimits.js"
import { type Approver, makeApprovers } from "./Approvers.js"
import type { PlaceNames } from "../place/Decisions.js"

/** Maximum number of recipients. */
const maxMails = 20
/** How many requests of an organization wait until their recipients are known. */
const maxWaiting = 20
const drainTime = "2 seconds"

/** A request that people decide, and the mail that tells them so. */
export interface ApprovalMail {
  /** The action that a person must be allowed to do at the place. */
  readonly action: Action
  /** The people who decide; without it, the members who may do the action. */
  readonly approvers?: Effect.Effect<ReadonlyArray<Approver>>
  readonly orgId: OrgId
  readonly place: PlaceNames
  readonly subject: string
  readonly text: string
  /** How long the request waits for a decision. A later mail is not sent. */
  readonly lifetime: Duration.Duration
}

const hour = 60 * 60 * 1000

/** Limits of mails over all servers of a database. The second keeps organizations from flooding an invited address. */
const mailsOf = ({ action }: ApprovalMail): RateLimit => ({ kind: `mail.${action}`, max: 1, window: hour })
const mailsOfPerson: RateLimit = { kind: "mail.person", max: 10, window: hour }

/** Mails to the people who may decide a request. */
export class ApprovalMails extends Effect.Service<ApprovalMails>()("@coffer/server/ApprovalMails", {
  scoped: Effect.gen(function* () {
    const { mail } = yield* ServerConfig
    const mailer = yield* Mailer
    const limits = yield* RateLimits
    const { transaction } = yield* Database
    const approversOf = yield* makeApprovers
    const oneAtATime = makeFairSemaphore(sharedBounds.approvalMails)
    const waiting = new Map<OrgId, Set<string>>()
    const fibers = yield* FiberSet.make()
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(fibers), drainTime))

    const sendTo = (request: ApprovalMail, { email, id }: Approver) =>
      Effect.gen(function* () {
        const counted = [
          [mailsOf(request), `${request.orgId} ${id}`],
          [mailsOfPerson, id]
        ] as const
        for (const [limit, subject] of counted) if ((yield* limits.wait(limit, subject)) > 0) return
        const events = yield* Effect.forEach(counted, ([limit, subject]) => limits.count(limit, subject))
        const uncount = transaction(Effect.forEach(events, (event) => limits.forget({ id: event }), { discard: true }))
        yield* afterCommit(
          mailer.sendNotice({
            to: email,
            subject: request.subject,
            text: request.text,
            lifetime: request.lifetime,
            lost: Effect.catchAllCause(uncount, (cause) =>
              Effect.logError("a person who decides requests gets the next mail in an hour", cause)
            )
          })
        )
      })

    const sendAll = (request: ApprovalMail) =>
      Effect.gen(function* () {
        const approvers = (yield* request.approvers ?? approversOf(request.action, request.orgId, request.place)).slice(
          0,
          maxMails
        )
        if (approvers.length === 0) return
        // In the order of ids, so that two servers do not wait for each other's locks.
        const inOrder = approvers.sort((one, other) => (one.id < other.id ? -1 : 1))
        yield* transaction(Effect.forEach(inOrder, (approver) => sendTo(request, approver), { discard: true }))
      }).pipe(
        Effect.catchAllCause((cause) => Effect.logError("the people who decide a request were not mailed", cause))
      )

    /**
     * Mails the people who may decide a request, in the background. Call it after the commit. A request that comes while
     * another of the same place waits causes no mail: its recipients would be the same.
     */
    const send = (request: ApprovalMail): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { action, orgId, place } = request
        const name = [action, place.project, place.env].join(" ")
        const names = waiting.get(orgId) ?? new Set()
        if (mail._tag === "Log" || names.has(name)) return Effect.void
        if (names.size >= maxWaiting) return Effect.logWarning("too many requests wait: one was not mailed")
        waiting.set(orgId, names.add(name))
        const begun = Effect.sync(() => {
          names.delete(name)
          if (names.size === 0) waiting.delete(orgId)
        })
        // A fiber inherits that its parent, a commit, is uninterruptible.
        return FiberSet.run(fibers, Effect.interruptible(oneAtATime.inside(Effect.zipRight(begun, sendAll(request)))))
      })

    return { send } as const
  }),
  dependencies: [RateLimits.Default]
}) {}
