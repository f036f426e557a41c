import { approvalPage, readApproval } from "@coffer/domain/requests/ApprovalMessage"
import type { ApprovalNeeded } from "@coffer/domain/errors/Errors"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { said } from "./Confirmation.js"
import { NotConfirmed } from "./Failures.js"
import type { RunContext } from "./RunContext.js"
import { watch } from "./Votes.js"

const isNeeded = (error: unknown): error is ApprovalNeeded => Predicate.isTagged(error, "ApprovalNeeded")

/**
 * Makes a request, and if it needs an approval, sends the person to the page where it is given. Then sends the same request again
 * for a while: the server makes it once it is approved. Where the host opens no pages, the error says where to approve.
 */
export const afterApproval = <A, E>(
  request: Effect.Effect<A, E>,
  message: string,
  org: OrgName,
  { server, visits }: RunContext
): Effect.Effect<A, E | NotConfirmed> =>
  Effect.catchAll(request, (error) => {
    const needed = isNeeded(error) ? readApproval(error.message) : null
    if (visits === undefined || needed === null) return Effect.fail(error)
    const { id, page } = needed
    const visit = { kind: "approve" as const, message, id, url: page ?? approvalPage(server.base, org, id) }
    return Effect.tryPromise((signal) => visits.propose(visit, signal)).pipe(
      Effect.orElseSucceed(() => "unanswered" as const),
      Effect.flatMap((reply): Effect.Effect<A, E | NotConfirmed> => {
        if (reply === "declined") {
          return new NotConfirmed({ message: `${said.declined} to approve the request, and it was not made` })
        }
        // Somebody else may approve it.
        if (reply !== "accepted") return Effect.fail(error)
        return Effect.retry(request, {
          schedule: watch,
          while: (again) => isNeeded(again) && readApproval(again.message)?.id === id
        }).pipe(Effect.tap(() => Effect.ignore(Effect.tryPromise(() => visits.complete(id)))))
      })
    )
  })
